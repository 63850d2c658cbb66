import { expect, test } from "vitest";
import { type CallFilter, firstIdAt, planCallList } from "./list-calls.ts";

test.each<[CallFilter, string | undefined]>([
  [{}, undefined],
  [{ status: "failed" }, undefined],
  [{ untilMs: 1 }, undefined],
  [{ sinceMs: 1 }, "calls.list-all"],
  [{ agentId: "sys.api" }, "calls.list-all"],
  [{ agentId: "sys.api", toolName: "t" }, "calls.list-of-tool"],
  [{ target: "x" }, "calls.list-of-target"],
  [{ target: "x", toolName: "t" }, "calls.list-of-tool"],
  [{ agentId: "ann", toolName: "t" }, "calls.list-of-agent"],
  [{ agentId: "ann", errorCode: "tool_error" }, "calls.list-of-error"],
])("[API-filters] the filter %j is led by the index that leaves the fewest calls", (filter, name) => {
  expect(planCallList(filter)?.name).toBe(name);
});

test("[API-filters] a time is the first id that can be made at it", () => {
  expect(firstIdAt(Date.parse("2026-11-16T18:00:00Z")) < firstIdAt(Date.parse("2026-11-16T18:00:00.001Z"))).toBe(true);
  expect([firstIdAt(0), firstIdAt(-5), firstIdAt(1e20)]).toEqual(["000000000000", "000000000000", "ffffffffffff"]);
});
