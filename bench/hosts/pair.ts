// What every pair of parent and child can do: send a text there and get it back.

export interface Pair extends AsyncDisposable {
  readonly name: string;
  readonly childPid: number;
  /** One round trip: a call with the text as its argument, answered with the text as its result. */
  call(text: string): Promise<void>;
}

export interface PairKind {
  readonly name: string;
  open(): Promise<Pair>;
}
