import fc from "fast-check";
import { expect, test } from "vitest";
import { backoff } from "./backoff.ts";

const SHAPE = { first: 100, longest: 1_000 };

test.each([
  [1, 0, 50],
  [1, 1, 100],
  [2, 1, 200],
  [3, 0.5, 300],
  [4, 1, 800],
  [5, 1, 1_000],
  [500, 1, 1_000],
])("[API-6-S1] after %i failures, chance %d: %i ms", (failures, chance, waitMs) => {
  expect(backoff(SHAPE, failures, () => chance)).toBe(waitMs);
});

test("[API-6-S1] a wait is never longer than the maximum nor shorter than half the first", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (failures, chance) => {
        const waitMs = backoff(SHAPE, failures, () => chance);
        expect(waitMs).toBeGreaterThanOrEqual(SHAPE.first / 2);
        expect(waitMs).toBeLessThanOrEqual(SHAPE.longest);
      },
    ),
  );
});

test("without chance the wait is exactly twice the last one", () => {
  expect([0, 1, 2, 3, 4, 5, 5_000].map((failures) => backoff(SHAPE, failures))).toEqual([
    100, 100, 200, 400, 800, 1_000, 1_000,
  ]);
});
