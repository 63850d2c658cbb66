import { describe, expect, test } from "vitest";
import { parseLinearPattern } from "./linear-pattern.ts";

describe("parseLinearPattern", () => {
  test.each([
    ["^[a-z]+$", "abc", true],
    ["^[a-z]+$", "abC", false],
    ["^\\d{3}-\\d{4}$", "555-1234", true],
    ["b", "abc", true],
    ["^(?<year>\\d{4})$", "2026", true],
    ["^\\u0041$", "A", true],
    ["^\\p{L}+$", "Ünïcödé", true],
    ["^.$", "💡", true],
    ["^a\\/b$", "a/b", true],
    ["^(?i)abc$", "ABC", true],
    ["^\\\\k$", "\\k", true],
  ])("%s on %s is %s", (pattern, text, matches) => {
    expect(parseLinearPattern(pattern).test(text)).toBe(matches);
  });

  test.each(["(?=a)b", "(?!a)b", "(?<=a)b", "(?<!a)b", "(a)\\1", "(?<x>a)\\k<x>", "(", "[", "a{2,1}", "*a"])(
    "[SEC-10-E1] %s is refused with a reason",
    (pattern) => {
      expect(() => parseLinearPattern(pattern)).toThrow(expect.objectContaining({ code: "bad_request" }));
    },
  );

  test.each([
    ["longer than the cap", "a".repeat(2_001)],
    ["large once its repetitions are written out", "(a{900}b{900}){1}(c{900}d{900}){1}e{900}f{900}"],
    ["a repetition over a thousand", "a{1001}"],
    ["repetitions of repetitions", "((a{100}){100}){100}"],
  ])("[SEC-10-E1] a pattern that is %s is refused", (_what, pattern) => {
    expect(() => parseLinearPattern(pattern)).toThrow(expect.objectContaining({ code: "bad_request" }));
  });

  // A backtracking engine needs 2^n steps for these; n = 100,000 would not end before the universe does.
  test.each(["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(x+x+)+y", "^([a-z]+)*[0-9]$", "^(.*)(.*)(.*)(.*)(.*)[^ax]$"])(
    "[SEC-10-E2] %s ends on a hundred thousand characters",
    (pattern) => {
      const compiled = parseLinearPattern(pattern);
      expect(compiled.test(`${"a".repeat(100_000)}!a`)).toBe(false);
      expect(compiled.test("x".repeat(100_000))).toBe(false);
    },
  );
});
