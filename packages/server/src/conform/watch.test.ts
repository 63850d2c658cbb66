import { expect, test } from "vitest";
import { createWatch } from "./watch.ts";

/** A clock that stands still until it is told that the time is up. */
const stillClock = () => {
  const sleepers = new Set<() => void>();
  return {
    sleep: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        sleepers.add(resolve);
        signal?.addEventListener("abort", () => {
          sleepers.delete(resolve);
          resolve();
        });
      }),
    timeIsUp: () => {
      for (const wake of sleepers) wake();
    },
    sleeping: () => sleepers.size,
  };
};

test("what is true already is not waited for", async () => {
  const clock = stillClock();
  expect(await createWatch(clock.sleep).until(() => true, 1_000)).toBe(true);
  expect(clock.sleeping()).toBe(0);
});

test("a wait ends when it becomes true, and leaves no timer behind", async () => {
  const clock = stillClock();
  const watch = createWatch(clock.sleep);
  let seen = 0;
  const waiting = watch.until(() => seen === 2, 1_000);
  seen = 1;
  watch.changed();
  seen = 2;
  watch.changed();
  expect(await waiting).toBe(true);
  expect(clock.sleeping()).toBe(0);
});

test("a wait ends when the time is up, and looks once more", async () => {
  const clock = stillClock();
  const watch = createWatch(clock.sleep);
  let seen = false;
  const [never, unannounced] = [watch.until(() => false, 1_000), watch.until(() => seen, 1_000)];
  seen = true;
  clock.timeIsUp();
  expect(await Promise.all([never, unannounced])).toEqual([false, true]);
});
