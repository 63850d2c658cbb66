import { expect, test } from "vitest";
import { createClockOffset } from "./clock-offset.ts";

test("the offset is measured between question and answer, and again when it is old", async () => {
  let now = 1_000;
  let theirs = 5_050;
  const clock = { now: () => now, sleep: async () => undefined };
  const offset = createClockOffset(async () => {
    now += 100;
    return theirs;
  }, clock);
  await offset.measure();
  expect(offset.aheadMs()).toBe(4_000);
  now += 60_001;
  theirs = now + 250;
  // The old value while the new one is on its way; a reader that waits for it joins that question.
  expect(offset.aheadMs()).toBe(4_000);
  await offset.measure();
  expect(offset.aheadMs()).toBe(200);
});

test("a database that does not answer leaves the last value", async () => {
  let answers = true;
  let now = 0;
  const clock = { now: () => now, sleep: async () => undefined };
  const offset = createClockOffset(async () => {
    if (!answers) throw new TypeError("away");
    return 7;
  }, clock);
  await offset.measure();
  answers = false;
  now = 100_000;
  expect(offset.aheadMs()).toBe(7);
  await expect(offset.measure()).rejects.toThrow("away");
  expect(offset.aheadMs()).toBe(7);
});
