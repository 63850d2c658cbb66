import { expect, test } from "vitest";
import { planCodeWarnings } from "./code-warning.ts";

const warningsOf = (codes?: string[]) =>
  planCodeWarnings({ retry_policy: { attempts: 2, backoff_seconds: 1, ...(codes && { codes }) } });

test("[LIM-retry-5] a code that is almost one of the error table is warned of; one of the tool's own is not", () => {
  expect(warningsOf(["rate_limitted", "rate_limited", "quota_used_up"])).toEqual([
    "retry_policy repeats failures with rate_limitted, which no error of the plane has; did you mean rate_limited?",
  ]);
  expect(warningsOf(["toString"])).toEqual([]);
  expect(warningsOf()).toEqual([]);
  expect(planCodeWarnings({})).toEqual([]);
});
