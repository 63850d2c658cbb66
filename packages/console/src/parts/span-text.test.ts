import { expect, test } from "vitest";
import { clockText, spanBetween, spanText } from "./span-text.ts";

test.each([
  [0, "0 ms"],
  [-5, "0 ms"],
  [999, "999 ms"],
  [1_540, "1.5 s"],
  [42_000, "42 s"],
  [61_000, "1 min 1 s"],
  [119_700, "2 min 0 s"],
  [3_599_800, "1 h 0 min"],
  [86_396_000, "1 d"],
  [7_260_000, "2 h 1 min"],
  [200_000_000, "2 d"],
  [Number.NaN, ""],
])("%d ms is %s", (ms, text) => {
  expect(spanText(ms)).toBe(text);
});

test("another day has its date, a text that is not a time stays", () => {
  const now = new Date(2026, 10, 16, 12, 0, 0);
  expect(clockText(new Date(2026, 10, 16, 9, 5, 7).toISOString(), now)).toBe("09:05:07");
  expect(clockText(new Date(2026, 10, 2, 9, 5, 7).toISOString(), now)).toBe("2026-11-02 09:05:07");
  expect(clockText("soon", now)).toBe("soon");
});

test("a span needs both times", () => {
  expect(spanBetween("2026-11-16T10:00:00Z", "2026-11-16T10:00:01Z")).toBe(1_000);
  expect(spanBetween("2026-11-16T10:00:00Z", null)).toBeUndefined();
});
