import { expect, test } from "vitest";
import { FAULT_POINTS, noFaults } from "./faults.ts";

test("points are named once, as noun:moment, and there are enough of them", () => {
  expect(new Set(FAULT_POINTS).size).toBe(FAULT_POINTS.length);
  expect(FAULT_POINTS.length).toBeGreaterThanOrEqual(25);
  for (const point of FAULT_POINTS) expect(point).toMatch(/^[a-z]+:(?:before|after)-[a-z-]+$/);
});

test("in production a point does nothing", async () => {
  for (const point of FAULT_POINTS) expect(await noFaults.at(point)).toBeUndefined();
});
