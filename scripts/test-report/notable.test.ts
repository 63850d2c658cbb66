import { expect, test } from "vitest";
import { listNotable } from "./notable.ts";

const report = (status: string, assertionResults: readonly object[], message = "") =>
  JSON.stringify({ testResults: [{ name: "/checkout/tests/a.test.ts", status, message, assertionResults }] });
const passed = { status: "passed", fullName: "fine", failureMessages: [] };
const again = { status: "passed", fullName: "twice", failureMessages: ["AssertionError: 1 is not 2\n    at x"] };
const failed = { status: "failed", fullName: "broken", failureMessages: ["Error: no\n    at x"] };

test.each<[string, string | undefined, readonly string[]]>([
  ["nothing to say", report("passed", [passed]), []],
  [
    "a second try",
    report("passed", [passed, again]),
    ["needed a second try: tests/a.test.ts > twice: AssertionError: 1 is not 2"],
  ],
  ["a failure", report("failed", [failed, passed]), ["failed: tests/a.test.ts > broken: Error: no"]],
  ["a skipped test", report("passed", [{ ...passed, status: "skipped" }]), ["skipped: tests/a.test.ts > fine"]],
  [
    "a file that cannot be loaded",
    report("failed", [], "no such module\nat"),
    ["failed: tests/a.test.ts: no such module"],
  ],
  ["no report", undefined, []],
  ["a broken report", "{", []],
])("[REPO-5-1] %s", (_what, text, lines) => {
  expect(listNotable(text, "/checkout")).toEqual(lines);
});
