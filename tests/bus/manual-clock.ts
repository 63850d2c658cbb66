// A clock that stands still: a sleep ends when the test says so, or when its signal is aborted.

import type { Clock } from "@toolplane/engine";

export interface ManualClock extends Clock {
  /** Who is asleep now, by the time they asked for. */
  sleeping(): readonly number[];
  advance(ms: number): void;
}

export const createManualClock = (): ManualClock => {
  let now = 0;
  const sleepers = new Set<{ readonly ms: number; readonly until: number; readonly wake: () => void }>();
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const wake = (): void => {
          sleepers.delete(sleeper);
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        const sleeper = { ms, until: now + ms, wake };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", wake, { once: true });
      }),
    sleeping: () => [...sleepers].map(({ ms }) => ms),
    advance(ms) {
      now += ms;
      for (const sleeper of [...sleepers]) if (sleeper.until <= now) sleeper.wake();
    },
  };
};
