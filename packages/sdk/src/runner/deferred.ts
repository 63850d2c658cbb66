// A call whose result comes later, from another holder: the executor has given the right to settle to that holder, in the same
// commit as the work that the holder will do. The runner then ends its heartbeats and reports nothing.
//   DF1. Only an executor that has itself moved the lease may return this. A call without a holder ends by its deadline.

/** A class, so that plain data with the same keys is never mistaken for it. */
export class DeferredCall {
  /** Who holds the call now, as people read it in `why`. */
  readonly holder: string;

  constructor(holder: string) {
    this.holder = holder;
  }
}

export const deferCall = (holder: string): DeferredCall => new DeferredCall(holder);
