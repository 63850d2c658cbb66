// Knows which call a tool's code works for, also in its timers and event handlers: an error that nothing catches can be told with the call
// whose code threw it.

import { AsyncLocalStorage } from "node:async_hooks";

export interface CallScope {
  run<T>(toolCallId: string, work: () => T): T;
  current(): string | undefined;
}

export const createCallScope = (): CallScope => {
  const storage = new AsyncLocalStorage<string>();
  return { run: (toolCallId, work) => storage.run(toolCallId, work), current: () => storage.getStore() };
};
