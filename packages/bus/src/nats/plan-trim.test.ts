import { expect, test } from "vitest";
import { addMark, type Mark, planTrim } from "./plan-trim.ts";

const MARKS: readonly Mark[] = [
  { at: 0, last: 10 },
  { at: 60, last: 40 },
  { at: 130, last: 90 },
];

test.each([
  ["nothing is old enough", 50, [], undefined],
  ["old commands go when none is open", 160, [], 41],
  ["an open command stays, and all after it", 160, [21], 21],
  ["a young command stays", 160, [81], 41],
  ["the oldest open command counts", 300, [71, 12, 90], 12],
] as const)("[ARCH-6-60] %s", (_, now, open, first) => {
  expect(planTrim(MARKS, open, { now, keepMs: 100 })).toBe(first);
});

test("[ARCH-6-60] a stream that was empty is never cut off at number 1: a server would throw away its first commands", () => {
  const empty: readonly Mark[] = [{ at: 0, last: 0 }];
  expect(planTrim(empty, [], { now: 1_000, keepMs: 100 })).toBeUndefined();
  expect(planTrim(MARKS, [1], { now: 160, keepMs: 100 })).toBeUndefined();
});

test("[ARCH-6-60] marks are kept as far back as a cut can need them", () => {
  let marks: readonly Mark[] = [];
  for (let at = 0; at <= 1_000; at += 10) marks = addMark(marks, { at, last: at }, 100);
  expect([marks.length, marks[0]]).toEqual([11, { at: 900, last: 900 }]);
  expect(planTrim(marks, [], { now: 1_000, keepMs: 100 })).toBe(901);
});
