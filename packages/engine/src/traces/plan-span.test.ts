import { expect, test } from "vitest";
import { planSpan } from "./plan-span.ts";

test("[SEE-6] a trace id of the plane says its time, a foreign one is looked for among all ids", () => {
  const { from, to, known } = planSpan("01a1e4c204c37000a0533a7efc6b08ec");
  expect(known).toBe(true);
  expect([from < "01a1e4c204a970008a3298c05f4bf190", "01a1e4c204a970008a3298c05f4bf190" < to]).toEqual([true, true]);
  expect(Number.parseInt(to, 16) - Number.parseInt(from, 16)).toBe(120_000);
  expect(planSpan("4bf92f3577b34da6a3ce929d0e0e4736")).toEqual({ from: "", to: "g", known: false });
});
