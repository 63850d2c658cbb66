import { expect, test } from "vitest";
import { breakerSchema, rateSchema } from "./limits.ts";

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
