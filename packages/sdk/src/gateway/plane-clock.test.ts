import { expect, test } from "vitest";
import { createPlaneClock } from "./plane-clock.ts";

test("[SDK-clock-1] an answer that lay unread does not make the plane's clock slow", () => {
  const clock = createPlaneClock();
  expect(clock.ahead(5_000, 1_000)).toBe(4_000);
  expect(clock.ahead(6_000, 31_000)).toBe(4_000);
  expect(clock.ahead(36_500, 32_000)).toBe(4_500);
});

test("[SDK-clock-1] a clock that was set counts after some minutes, ours at once", () => {
  const clock = createPlaneClock();
  const minute = 60_000;
  clock.ahead(9_000, 0);
  expect(clock.ahead(4 * minute, 4 * minute)).toBe(9_000);
  expect(clock.ahead(5 * minute, 5 * minute)).toBe(9_000);
  expect(clock.ahead(10 * minute, 10 * minute)).toBe(0);
  expect(clock.ahead(10 * minute, 9 * minute)).toBe(minute);
});

test("[SDK-clock-1] after a long standstill only the new answer counts", () => {
  const clock = createPlaneClock();
  clock.ahead(9_000, 0);
  expect(clock.ahead(3_600_100, 3_600_000)).toBe(100);
});
