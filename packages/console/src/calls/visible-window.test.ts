import { expect, test } from "vitest";
import { planWindow, ROW_PX } from "./visible-window.ts";

test.each([
  [0, 0, 400, 0, 0],
  [5, 0, 400, 0, 5],
  [5_000, 0, 400, 0, 20],
  [5_000, 100 * ROW_PX, 400, 90, 120],
  [5_000, 4_995 * ROW_PX, 400, 4_985, 5_000],
  [10, 100_000, 400, 9, 10],
])("of %i rows, scrolled by %i with %i pixels seen, rows %i to %i are drawn", (count, scrolled, seen, first, end) => {
  expect(planWindow(count, scrolled, seen)).toEqual({ first, end, before: first * ROW_PX, height: count * ROW_PX });
});
