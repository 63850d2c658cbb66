import { expect, test } from "vitest";
import { breakerSchema, rateSchema, retryPolicySchema } from "./limits.ts";

test.each([
  [{ limit: 1, per_seconds: 1e-300 }, false],
  [{ limit: 1, per_seconds: 0.009 }, false],
  [{ limit: 1, per_seconds: 0.01 }, true],
  [{ limit: 1, per_seconds: 604_801 }, false],
  [{ limit: 1_000_000, per_seconds: 1 }, true],
  [{ limit: 1_000_000, per_seconds: 0.5 }, false],
])("[LIM-bounds] the rate %j is taken: %s", (rate, isTaken) => {
  expect(rateSchema.safeParse(rate).success).toBe(isTaken);
});

test.each([
  [{ failure_rate: 0.5, window_seconds: 1e-300, open_seconds: 1 }, false],
  [{ failure_rate: 0.5, window_seconds: 1, open_seconds: 1e-300 }, false],
  [{ failure_rate: 0.5, window_seconds: 1, open_seconds: 1 }, true],
])("[LIM-bounds] the breaker %j is taken: %s", (breaker, isTaken) => {
  expect(breakerSchema.safeParse(breaker).success).toBe(isTaken);
});

test.each([
  [{ attempts: 3, backoff_seconds: 10 }, []],
  [{ attempts: 3, backoff_seconds: 10, max_backoff_seconds: 10 }, []],
  [{ attempts: 3, backoff_seconds: 0, max_backoff_seconds: 0 }, []],
  [
    { attempts: 3, backoff_seconds: 10, max_backoff_seconds: 1 },
    ["max_backoff_seconds: must not be below backoff_seconds"],
  ],
])("[LIM-bounds] the retry policy %j is refused for %j", (policy, said) => {
  const issues = retryPolicySchema.safeParse(policy).error?.issues ?? [];
  expect(issues.map(({ path, message }) => `${path.join(".")}: ${message}`)).toEqual(said);
});
