import { describe, expect, test } from "vitest";
import { planDetailedTask, planTask } from "./plan-task.ts";

const AT = new Date("2030-01-01T00:00:00Z");
const LATER = new Date("2030-01-01T00:01:00Z");
const call = (status: string, more: object = {}) =>
  ({ toolCallId: "c1", status, createdAt: AT, startedAt: null, settledAt: null, ...more }) as never;

const detailed = (status: string, more: object = {}) =>
  planDetailedTask({
    first: call("success", { settledAt: AT }),
    of: call(status, { toolCallId: "c2", settledAt: LATER }),
    content: undefined,
    open: undefined,
    givenUp: false,
    resultOf: () => ({ content: [] }),
    ...more,
  } as never);

test("a call under way is a task that works, and says what it waits for", () => {
  expect(planTask(call("awaiting_approval"))).toEqual({
    taskId: "c1",
    status: "working",
    statusMessage: "the call waits until a person approves it",
    createdAt: AT.toISOString(),
    lastUpdatedAt: AT.toISOString(),
    ttlMs: null,
    pollIntervalMs: 1_000,
  });
});

describe("a task in a later round keeps the id of the first", () => {
  test.each([
    ["success", {}, { status: "completed", result: { content: [] } }],
    ["timeout", {}, { status: "completed" }],
    ["canceled", {}, { status: "cancelled" }],
    ["failed", { content: { error: { code: "tool_error", message: "no" } } }, { status: "completed" }],
    [
      "failed",
      { content: { error: { code: "outcome_unknown", message: "who knows" } } },
      { status: "failed", statusMessage: "who knows", error: { code: -32603, data: { code: "outcome_unknown" } } },
    ],
    ["success", { open: { a: { method: "roots/list" } } }, { status: "input_required", inputRequests: { a: {} } }],
    ["success", { open: { a: {} }, givenUp: true }, { status: "cancelled" }],
  ])("%s %j", (status, more, expected) => {
    const task = detailed(status, more);
    expect(task).toMatchObject({ taskId: "c1", lastUpdatedAt: LATER.toISOString(), ...expected });
    if (task.status === "failed") expect(task).not.toHaveProperty("result");
  });
});
