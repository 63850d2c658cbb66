import { expect, test } from "vitest";
import { systemClock } from "../ports/clock.ts";
import { createAlarm } from "./alarm.ts";

const FOREVER_MS = 2_000_000_000;

test("a wake ends the wait", async () => {
  const alarm = createAlarm(systemClock);
  const waiting = alarm.wait(FOREVER_MS);
  alarm.wake();
  await waiting;
});

test("a wake before the wait is kept, until it is forgotten", async () => {
  const alarm = createAlarm(systemClock);
  alarm.wake();
  await alarm.wait(FOREVER_MS);
  alarm.rest();
  let woken = false;
  const waiting = alarm.wait(FOREVER_MS).then(() => {
    woken = true;
  });
  await Promise.resolve();
  expect(woken).toBe(false);
  alarm.wake();
  await waiting;
  expect(woken).toBe(true);
});

test("without a wake the wait ends by the clock", async () => {
  const slept: number[] = [];
  const clock = {
    now: () => 0,
    sleep: (ms: number) => {
      slept.push(ms);
      return Promise.resolve();
    },
  };
  await createAlarm(clock).wait(42);
  expect(slept).toEqual([42]);
});
