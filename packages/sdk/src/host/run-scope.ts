// Knows which request plugin code is working for, also in its callbacks and timers: an error nobody caught then fails its own
// request instead of the process.

import { AsyncLocalStorage } from "node:async_hooks";
import type { Run } from "./run.ts";

export interface RunScope {
  run<T>(run: Run, work: () => T): T;
  current(): Run | undefined;
}

export const createRunScope = (): RunScope => {
  const storage = new AsyncLocalStorage<Run>();
  return { run: (run, work) => storage.run(run, work), current: () => storage.getStore() };
};
