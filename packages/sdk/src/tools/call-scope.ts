// Knows which call a tool's code works for, also in its timers and event handlers, and after its answer: an error that nothing catches can
// be told with the call whose code threw it.

import { AsyncLocalStorage } from "node:async_hooks";

export interface CallInScope {
  readonly toolName: string;
  readonly toolCallId: string;
  /** A text without the call's secrets: when its code throws after its answer, the runner has forgotten the call. */
  readonly scrub: (text: string) => string;
}

export interface CallScope {
  run<T>(call: CallInScope, work: () => T): T;
  current(): CallInScope | undefined;
}

export const createCallScope = (): CallScope => {
  const storage = new AsyncLocalStorage<CallInScope>();
  return { run: (call, work) => storage.run(call, work), current: () => storage.getStore() };
};
