// A clock whose sleeps are over at once and are written down; time moves only by them.

import type { Clock } from "@toolplane/sdk";

export interface TestClock extends Clock {
  readonly sleeps: number[];
}

/** `patient`: sleeps of that length never end by themselves; they are for what a test does not want to happen. */
export const createTestClock = (patient: (ms: number) => boolean = (ms) => ms >= 60_001): TestClock => {
  let now = 1_000_000;
  const sleeps: number[] = [];
  return {
    sleeps,
    now: () => now,
    async sleep(ms, signal) {
      if (patient(ms)) {
        await new Promise<void>((resolve) => {
          if (signal?.aborted === true) resolve();
          signal?.addEventListener("abort", () => resolve(), { once: true });
        });
        return;
      }
      sleeps.push(ms);
      now += ms;
    },
  };
};
