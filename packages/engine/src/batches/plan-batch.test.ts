import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TaskStatus } from "./batch.ts";
import {
  type BatchState,
  digestOf,
  type EndedTurn,
  planBatchResult,
  planBatchStatus,
  planClosing,
  planDispatchFailure,
  planTaskEnd,
} from "./plan-batch.ts";

const state: BatchState = { failFast: false, overdue: false, parentEnded: false, bad: 0, open: 3 };

describe("when a batch closes", () => {
  test.each<[string, Partial<BatchState>, string | undefined]>([
    ["work goes on", {}, undefined],
    ["[UTP-11.6-5] its deadline passed", { overdue: true }, "deadline_exceeded"],
    ["[UTP-11.6-4] a task failed under fail_fast", { failFast: true, bad: 1 }, "fail_fast"],
    ["a task failed and nobody asked for haste", { bad: 1 }, undefined],
    ["[UTP-11.6-R5] its call has ended", { parentEnded: true }, "parent_ended"],
    [
      "the call's end comes before all else",
      { parentEnded: true, overdue: true, failFast: true, bad: 1 },
      "parent_ended",
    ],
    ["a failure comes before the deadline", { overdue: true, failFast: true, bad: 1 }, "fail_fast"],
    ["nothing is left to close", { open: 0, overdue: true, parentEnded: true }, undefined],
  ])("%s", (_name, change, expected) => {
    expect(planClosing({ ...state, ...change })).toBe(expected);
  });
});

const task = (status: TaskStatus, error: string | null = null) => ({ status, error });

describe("how a batch ends", () => {
  test.each<[string, readonly ReturnType<typeof task>[], boolean, string]>([
    ["all succeeded", [task("success"), task("success")], false, "success"],
    ["some succeeded", [task("success"), task("failed")], false, "partial"],
    ["some succeeded, the rest timed out", [task("success"), task("timeout")], false, "partial"],
    ["none succeeded, one failed", [task("timeout"), task("failed"), task("partial")], false, "failed"],
    ["none succeeded or failed, one timed out", [task("timeout"), task("partial")], false, "timeout"],
    ["only partial results", [task("partial"), task("canceled")], false, "partial"],
    ["nothing but canceled", [task("canceled")], false, "failed"],
    ["the deadline canceled the rest", [task("success"), task("canceled", "deadline_exceeded")], false, "timeout"],
    ["under fail_fast one failed", [task("success"), task("failed"), task("canceled", "fail_fast")], true, "failed"],
    ["under fail_fast one was canceled", [task("success"), task("canceled", "stopped")], true, "failed"],
    ["under fail_fast the deadline came", [task("success"), task("canceled", "deadline_exceeded")], true, "timeout"],
    ["under fail_fast all succeeded", [task("success")], true, "success"],
    ["its call ended", [task("success"), task("canceled", "parent_ended")], false, "partial"],
  ])("[UTP-11.6-6] %s", (_name, tasks, failFast, expected) => {
    expect(planBatchStatus(tasks, failFast)).toBe(expected);
  });

  test("[UTP-11.6-6] success means that every task succeeded, whatever the others were", () => {
    const statuses = fc.constantFrom<TaskStatus>("success", "failed", "canceled", "timeout", "partial");
    const tasks = fc.array(fc.record({ status: statuses, error: fc.constant(null) }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(tasks, fc.boolean(), (list, failFast) => {
        const all = list.every(({ status }) => status === "success");
        expect(planBatchStatus(list, failFast) === "success").toBe(all);
      }),
    );
  });
});

describe("a task that could not be dispatched", () => {
  test("[UTP-11.6-3] busy and internal errors are tried again after 2, 4, 8 and 16 seconds; the fifth ends it", () => {
    for (const code of ["agent_busy", "internal_error", "storage_error"] as const) {
      const plans = [1, 2, 3, 4].map((attempts) => planDispatchFailure({ code }, attempts));
      expect(plans.map((plan) => plan.act === "retry" && plan.seconds)).toEqual([2, 4, 8, 16]);
      expect(planDispatchFailure({ code }, 5)).toEqual({ act: "fail", error: "dispatch_retry_exhausted" });
    }
  });

  test.each([
    "recursion_depth_exceeded",
    "invalid_source_actor",
    "not_found",
    "conflict",
    "protocol_violation",
  ] as const)("[UTP-11.6-3] %s is refused for good", (code) => {
    expect(planDispatchFailure({ code }, 1)).toEqual({ act: "fail", error: `dispatch_rejected:${code}` });
  });
});

describe("what a task keeps of its child", () => {
  const body = (content: unknown): string => JSON.stringify({ card_id: "c1", content });
  const turn: EndedTurn = {
    status: "success",
    deliverableCardId: "c1",
    deliverableBody: body({ __type__: "TextContent", text: "all done" }),
    error: null,
    errorCode: null,
  };

  test.each<[string, Partial<EndedTurn>, object]>([
    [
      "a text is its digest",
      {},
      { status: "success", error: null, resultView: { deliverable_card_id: "c1", digest: "all done" } },
    ],
    [
      "fields are named",
      {
        deliverableBody: body({
          data: {
            fields: [
              { name: "a", value: "1" },
              { name: "b", value: 2 },
            ],
          },
        }),
      },
      { resultView: { digest: "a: 1 | b: 2", result_fields: ["a", "b"] } },
    ],
    [
      "no deliverable is said",
      { deliverableCardId: null },
      { resultView: { error_code: "missing_deliverable_card_id" } },
    ],
    ["one that is gone is said", { deliverableBody: null }, { resultView: { error_code: "deliverable_read_failed" } }],
    [
      "one that cannot be read is said",
      { deliverableBody: "{" },
      { resultView: { error_code: "deliverable_read_failed" } },
    ],
    [
      "a failure keeps its code and its words",
      { status: "failed", error: "the tool broke", errorCode: "tool_error" },
      { status: "failed", error: "tool_error", resultView: { error: "the tool broke" } },
    ],
  ])("[UTP-11.6-R2] %s", (_name, change, expected) => {
    expect(planTaskEnd({ ...turn, ...change })).toMatchObject(expected);
  });

  test("[UTP-11.6-R2] at most five fields, and at most so much of them", () => {
    const fields = Array.from({ length: 9 }, (_, index) => ({ name: `f${index}`, value: index }));
    expect(digestOf({ data: { fields } })).toBe("f0: 0 | f1: 1 | f2: 2 | f3: 3 | f4: 4");
    expect(digestOf({ text: "x".repeat(5_000) })).toHaveLength(2_000);
    expect(digestOf({ data: { answer: 42 } })).toBe('{"answer":42}');
    expect(digestOf("nonsense")).toBe("");
  });
});

describe("the result of the call that waited", () => {
  const reported = (taskIndex: number, status: TaskStatus, error: string | null = null) => ({
    taskIndex,
    status,
    error,
    agentId: `agent_${taskIndex}`,
    outputBoxId: `box_${taskIndex}`,
    resultView: { digest: `found ${taskIndex}`, deliverable_card_id: `card_${taskIndex}` },
  });

  test("[UTP-11.6-8] every task by its index, whatever the order they ended in", () => {
    expect(planBatchResult("b1", [reported(1, "success"), reported(0, "success")], false)).toEqual({
      status: "success",
      result: {
        status: "success",
        results: [0, 1].map((index) => ({
          task_index: index,
          status: "success",
          agent_id: `agent_${index}`,
          summary: `found ${index}`,
          output_box_id: `box_${index}`,
          deliverable_card_id: `card_${index}`,
        })),
      },
    });
  });

  test("[UTP-11.6-8] anything but success says batch_failed with the batch and its status", () => {
    const plan = planBatchResult("b1", [reported(0, "success"), reported(1, "failed", "tool_error")], false);
    expect(plan).toMatchObject({
      status: "partial",
      result: { results: [{ task_index: 0 }, { task_index: 1, error: "tool_error" }] },
      error: { code: "batch_failed", detail: { batch_id: "b1", status: "partial" } },
    });
  });

  test("[UTP-11.6-R3] a thousand long summaries fit into one card", () => {
    const tasks = Array.from({ length: 1_000 }, (_, index) => ({
      ...reported(index, "success"),
      resultView: { digest: "ä".repeat(2_000) },
    }));
    const { result } = planBatchResult("b1", tasks, false);
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(896 * 1024);
  });
});
