// A clock that moves only when told to. Between two timers everything that is ready gets to run, so that what a timer sets
// off is done before the next one fires.

import type { Clock } from "../src/ports/clock.ts";

export interface ManualClock extends Clock {
  /** Moves time, firing what becomes due in order. */
  advance(ms: number): Promise<void>;
  /** How many sleep at this moment. */
  sleeping(): number;
}

/** Lets everything that is ready run: promises, immediates, and sockets that have something to say. */
export const settle = async (turns = 8): Promise<void> => {
  for (let i = 0; i < turns; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

export const createManualClock = (start = 1_800_000_000_000): ManualClock => {
  let now = start;
  const sleepers = new Set<Sleeper>();

  return {
    now: () => now,
    sleeping: () => sleepers.size,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const wake = (): void => {
          sleepers.delete(sleeper);
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        const sleeper: Sleeper = { due: now + Math.max(ms, 0), wake };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", wake, { once: true });
      }),
    async advance(ms) {
      const end = now + ms;
      await settle();
      for (;;) {
        const next = [...sleepers].sort((a, b) => a.due - b.due)[0];
        if (next === undefined || next.due > end) break;
        now = Math.max(now, next.due);
        next.wake();
        await settle();
      }
      now = end;
      await settle();
    },
  };
};

/** Waits for a condition, turn by turn of the event loop; a condition that never comes true fails the test. */
export const until = async (condition: () => boolean, what: string): Promise<void> => {
  const end = Date.now() + 60_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
};

/** A clock on which waits up to a bound are over at once; longer ones (time limits) never are. */
export const createHastyClock = (boundMs: number, start = 1_800_000_000_000): Clock => {
  let now = start;
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (ms <= boundMs) now += ms;
        if (ms <= boundMs || signal?.aborted === true) resolve();
        else signal?.addEventListener("abort", () => resolve(), { once: true });
      }),
  };
};
