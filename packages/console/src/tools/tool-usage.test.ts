import { expect, test } from "vitest";
import { planUsage } from "./tool-usage.ts";

const call = (status: string, error_code: string | null, ms: number | undefined) => ({
  tool_call_id: "c",
  tool_name: "t",
  agent_id: "a",
  agent_turn_id: "u",
  status,
  error_code,
  attempts: 1,
  created_at: "2026-11-16T10:00:00.000Z",
  started_at: null,
  settled_at: ms === undefined ? null : new Date(Date.parse("2026-11-16T10:00:00.000Z") + ms).toISOString(),
});

test("shares, times and codes of the newest calls", () => {
  const usage = planUsage([
    call("success", null, 100),
    call("failed", "tool_error", 300),
    call("failed", "tool_error", 200),
    call("timeout", "timeout", 900),
    call("running", null, undefined),
  ]);
  expect(usage).toEqual({
    calls: 5,
    open: 1,
    failedShare: 0.75,
    medianMs: 300,
    slowMs: 900,
    codes: [
      ["tool_error", 2],
      ["timeout", 1],
    ],
  });
});

test("a tool that was never called", () => {
  expect(planUsage([])).toMatchObject({ calls: 0, failedShare: undefined, medianMs: undefined, codes: [] });
});
