import { expect, test } from "vitest";
import { countReport, countTests, formatCount } from "./count.ts";

const file = (status: string, ...tests: readonly string[]) => ({
  status,
  assertionResults: tests.map((test) => ({ status: test })),
});

test.each([
  ["all passed", [file("passed", "passed", "passed"), file("passed", "passed")], 0, "3 passed, 0 failed"],
  ["one failed", [file("failed", "passed", "failed"), file("passed", "passed")], 1, "2 passed, 1 failed"],
  ["a file that could not be loaded", [file("failed"), file("passed", "passed")], 1, "1 passed, 1 failed"],
  ["a hook that failed after its tests passed", [file("failed", "passed")], 1, "1 passed, 1 failed"],
  ["a skipped test", [file("passed", "passed", "skipped")], 0, "1 passed, 1 failed"],
  ["an unhandled error outside any test", [file("passed", "passed")], 1, "1 passed, 1 failed"],
  ["no tests", [], 0, "0 passed, 1 failed"],
])("[REPO-5-1] %s", (_name, testResults, exitCode, line) => {
  expect(formatCount(countTests({ testResults }, exitCode))).toBe(line);
});

test.each([undefined, "", "{", "null", "[]", '{"testResults":7}'])(
  "[REPO-5-1] a missing or broken report (%j) is a failure",
  (text) => {
    expect(countReport(text, 0)).toEqual({ passed: 0, failed: 1 });
  },
);
