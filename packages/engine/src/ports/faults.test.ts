import { expect, test } from "vitest";
import {
  BATCH_FAULT_POINTS,
  CARRIER_FAULT_POINTS,
  FAULT_POINTS,
  noFaults,
  TURN_FAULT_POINTS,
  WEBHOOK_FAULT_POINTS,
} from "./faults.ts";

const ALL = [
  ...FAULT_POINTS,
  ...BATCH_FAULT_POINTS,
  ...TURN_FAULT_POINTS,
  ...CARRIER_FAULT_POINTS,
  ...WEBHOOK_FAULT_POINTS,
];

test("points are named once, as noun:moment, and there are enough of them", () => {
  expect(new Set(ALL).size).toBe(ALL.length);
  expect(FAULT_POINTS.length).toBeGreaterThanOrEqual(25);
  for (const point of ALL) expect(point).toMatch(/^[a-z]+:(?:before|after)-[a-z-]+$/);
});

test("in production a point does nothing", async () => {
  for (const point of ALL) expect(await noFaults.at(point)).toBeUndefined();
});
