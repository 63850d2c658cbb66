import { expect, test } from "vitest";
import { codeWarnings } from "./code-warning.ts";

const warningsOf = (codes?: string[]) =>
  codeWarnings({ retry_policy: { attempts: 2, backoff_seconds: 1, ...(codes && { codes }) } }).warnings;

test("[LIM-retry-5] a code that is almost one of the error table is warned of; one of the tool's own is not", () => {
  expect(warningsOf(["rate_limitted", "rate_limited", "quota_used_up"])).toEqual([
    "retry_policy repeats failures with rate_limitted, which no error of the plane has; did you mean rate_limited?",
  ]);
  expect(warningsOf(["RATE_LIMITED"])).toEqual([expect.stringContaining("did you mean rate_limited?")]);
  expect(warningsOf(["toString", "Outcome_Unknown"])).toBeUndefined();
  expect(warningsOf()).toBeUndefined();
  expect(codeWarnings({})).toEqual({});
});
