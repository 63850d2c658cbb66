// A number of places for work that runs at once, and ways to wait for one or for all of them.

import { onAbort } from "../runner/run-signal.ts";

export interface Slots {
  free(): number;
  used(): number;
  /** Takes a place until the work ends; the work must not reject. */
  use(work: () => Promise<void>): void;
  /** Resolves when a place becomes free, or the signal aborts. */
  oneFree(signal: AbortSignal): Promise<void>;
  empty(): Promise<void>;
}

export const createSlots = (count: number): Slots => {
  const running = new Set<Promise<void>>();
  return {
    free: () => count - running.size,
    used: () => running.size,
    use(work) {
      const done = work().finally(() => running.delete(done));
      running.add(done);
    },
    async oneFree(signal) {
      if (running.size < count) return;
      const { aborted, stop } = onAbort(signal);
      await Promise.race([aborted, ...running]);
      stop();
    },
    async empty() {
      while (running.size > 0) await Promise.all(running);
    },
  };
};
