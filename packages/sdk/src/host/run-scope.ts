// Knows which request plugin code works for, also in its callbacks and timers: an uncaught error then fails its own request
// instead of the process.
//
// `AsyncLocalStorage.run` around every request costs a tenth of a small request, because it makes a second context to return
// to. Entering a context, and leaving all of them once per chunk, costs less than half of that.

import { AsyncLocalStorage } from "node:async_hooks";
import type { Run } from "./run.ts";

export interface RunScope {
  /** Code that runs from here on belongs to the run, until another run is entered or the surrounding work ends. */
  enter(run: Run): void;
  /** Runs work that may enter runs; the caller's own context is restored when it returns. */
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
