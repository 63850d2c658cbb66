import { describe, expect, test } from "vitest";
import type { ConsumeOptions } from "./bus.ts";
import { planBackoff, planConsume, planDelay } from "./consume-plan.ts";

const OPTIONS: ConsumeOptions = { durable: "tool_desk", pattern: "cg.v1r4.*.*.cmd.tool.desk.>", category: "cmd" };

describe("planConsume", () => {
  test("[UTP-1.3-20] what is not given is the protocol's default", () => {
    const { pattern, ...plan } = planConsume(OPTIONS);
    expect(pattern.text).toBe(OPTIONS.pattern);
    expect(plan).toEqual({
      durable: "tool_desk",
      category: "cmd",
      deliver: "new",
      batch: 1,
      maxInFlight: 1,
      ackWaitMs: 30_000,
      maxDeliver: 3,
      backoff: [],
    });
  });

  test("what is given stays", () => {
    const given = { deliver: "all", batch: 7, maxInFlight: 8, ackWaitMs: 9, maxDeliver: 10, backoff: [0, 11] } as const;
    expect(planConsume({ ...OPTIONS, ...given })).toMatchObject(given);
  });

  test.each(["cg.>", "cg.v1r4.>", "cg.v1r4.*.*.*.tool.desk.>", "cg.v1r4.*.*.>"])(
    "%s is open in the category",
    (pattern) => {
      expect(planConsume({ ...OPTIONS, pattern }).pattern.text).toBe(pattern);
    },
  );

  test.each<readonly [string, Partial<ConsumeOptions>, string]>([
    ["another category", { category: "evt" }, "ToolplaneError"],
    ["a stream's pattern", { pattern: "cg.v1r4.*.*.str.>" }, "ToolplaneError"],
    ["no durable", { durable: "" }, "UsageError"],
    ["too large a batch", { batch: 10_001 }, "UsageError"],
    ["more than a day", { ackWaitMs: 86_400_001 }, "UsageError"],
    ["no number", { maxDeliver: Number.NaN }, "UsageError"],
    ["half a millisecond of backoff", { backoff: [0.5] }, "UsageError"],
  ])("refuses %s", (_, change, name) => {
    expect(() => planConsume({ ...OPTIONS, ...change })).toThrow(expect.objectContaining({ name }));
  });
});

describe("planBackoff", () => {
  test.each([
    [[], 1, 0],
    [[], 9, 0],
    [[10, 20], 1, 10],
    [[10, 20], 2, 20],
    [[10, 20], 9, 20],
  ])("of %j after attempt %i is %i", (backoff, attempt, delay) => {
    expect(planBackoff(backoff, attempt)).toBe(delay);
  });
});

describe("planDelay", () => {
  test("is whole milliseconds, never less than asked for", () => {
    expect([planDelay(undefined), planDelay(0), planDelay(0.1), planDelay(7)]).toEqual([0, 0, 1, 7]);
  });

  test.each([-1, Number.POSITIVE_INFINITY, Number.NaN])("refuses %s", (delay) => {
    expect(() => planDelay(delay)).toThrow(expect.objectContaining({ name: "UsageError" }));
  });
});
