import { expect, test } from "vitest";
import { createPlaneClock } from "./plane-clock.ts";

/** A clock whose answers come at `now`, on a machine whose own clock was set forward by so much. */
const createWorld = () => {
  let steady = 0;
  const clock = createPlaneClock(() => steady);
  return (theirs: number, now: number, setForward = 0): number => {
    steady = now - setForward;
    return clock.ahead(theirs, now);
  };
};

test("[SDK-clock-1] an answer that lay unread does not make the plane's clock slow", () => {
  const ahead = createWorld();
  expect(ahead(5_000, 1_000)).toBe(4_000);
  expect(ahead(6_000, 31_000)).toBe(4_000);
  expect(ahead(36_500, 32_000)).toBe(4_500);
});

test("[SDK-clock-1] a clock that was set counts: the plane's after some minutes, ours at once", () => {
  const ahead = createWorld();
  const minute = 60_000;
  ahead(9_000, 0);
  expect(ahead(4 * minute, 4 * minute)).toBe(9_000);
  expect(ahead(5 * minute, 5 * minute)).toBe(9_000);
  expect(ahead(10 * minute, 10 * minute)).toBe(0);
  expect(ahead(10 * minute + 1_000, 10 * minute + 21_000, 20_000)).toBe(-20_000);
  expect(ahead(10 * minute + 2_000, 10 * minute + 2_000)).toBe(0);
});

test("[SDK-clock-1] after a long standstill only the new answer counts", () => {
  const ahead = createWorld();
  ahead(9_000, 0);
  expect(ahead(3_600_100, 3_600_000)).toBe(100);
});
