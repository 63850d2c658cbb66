// A call whose result comes later and from somebody else: the executor has handed the right to settle it to another
// holder, in the same commit as the work that holder will do. The runner then ends its heartbeats and says nothing.
//   DF1. Only an executor that has itself moved the lease may say so; a call nobody holds any more ends by its deadline.

/** A class, so that data which happens to have the same keys is never taken for one. */
export class DeferredCall {
  /** Who holds the call now, as people read it in `why`. */
  readonly holder: string;

  constructor(holder: string) {
    this.holder = holder;
  }
}

export const deferCall = (holder: string): DeferredCall => new DeferredCall(holder);
