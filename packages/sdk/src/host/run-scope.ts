// Knows which request plugin code is working for, also in its callbacks and timers: an error nobody caught then fails its own
// request instead of the process.
//
// `AsyncLocalStorage.run` around every request costs a tenth of what a small request takes (it makes a second
// context to come back to); entering a context, and leaving all of them once per chunk, costs less than half of that.

import { AsyncLocalStorage } from "node:async_hooks";
import type { Run } from "./run.ts";

export interface RunScope {
  /** What is done from here on belongs to the run, until another is entered or the work around it ends. */
  enter(run: Run): void;
  /** Work that may enter runs; the caller's own context is as before when it returns. */
  around(work: () => void): void;
  current(): Run | undefined;
}

export const createRunScope = (): RunScope => {
  const storage = new AsyncLocalStorage<Run>();
  const outside = AsyncLocalStorage.snapshot();
  return {
    enter: (run) => storage.enterWith(run),
    around: (work) => outside(work),
    current: () => storage.getStore(),
  };
};
