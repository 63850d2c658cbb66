import fc from "fast-check";
import { expect, test } from "vitest";
import { planBackoff } from "./backoff.ts";

const SHAPE = { baseMs: 100, maxMs: 1_000 };

test.each([
  [1, 0, 50],
  [1, 1, 100],
  [2, 1, 200],
  [3, 0.5, 300],
  [4, 1, 800],
  [5, 1, 1_000],
  [500, 1, 1_000],
])("[API-6-S1] after %i failures, chance %d: %i ms", (failures, chance, waitMs) => {
  expect(planBackoff(failures, SHAPE, () => chance)).toBe(waitMs);
});

test("[API-6-S1] a wait is never longer than the maximum nor shorter than half the base", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (failures, chance) => {
        const waitMs = planBackoff(failures, SHAPE, () => chance);
        expect(waitMs).toBeGreaterThanOrEqual(SHAPE.baseMs / 2);
        expect(waitMs).toBeLessThanOrEqual(SHAPE.maxMs);
      },
    ),
  );
});
