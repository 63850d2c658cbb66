import { describe, expect, test } from "vitest";
import { createSpans, planFilter } from "./commands/tail.ts";
import { type EventLine, planEventLine } from "./event-line.ts";

const AT = "2030-01-01T10:00:00.000Z";
const event = (subject: string, payload: object) => ({ subject: `cg.v1r4.demo.public.${subject}`, payload });
const call = (phase: string, more: object = {}) =>
  event("evt.agent.sys_api.call", {
    tool_call_id: "c1",
    agent_turn_id: "turn_c1",
    tool_name: "pay",
    phase,
    attempt: 1,
    at: AT,
    ...more,
  });
const ofTurn = (kind: string, payload: object) =>
  event(`evt.agent.ann.${kind}`, { agent_turn_id: "turn_1", ...payload });

describe("[SEE-4] an event is one line", () => {
  test.each([
    ["a direct call", call("dispatched"), "sys.api", "pay asked for", "call c1"],
    ["its start", call("leased"), "sys.api", "pay runs", "call c1"],
    ["its start at a service that never leases", call("leased", { attempt: 0 }), "sys.api", "pay runs", "call c1"],
    ["its second start", call("leased", { attempt: 2 }), "sys.api", "pay runs, attempt 2", "call c1"],
    ["its end", call("settled", { status: "failed" }), "sys.api", "pay failed", "call c1"],
    [
      "a lost service, a call that was given back, a retry",
      call("retried"),
      "sys.api",
      "pay goes back to the queue",
      "call c1",
    ],
    ["a person is wanted", call("approval_wanted"), "sys.api", "pay waits for a person to approve it", "call c1"],
    ["given up", call("dead", { status: "failed" }), "sys.api", "pay given up: failed", "call c1"],
    ["a step", ofTurn("step", { step_id: "step_1_2", phase: "started" }), "ann", "step 2 started", "turn_1"],
    [
      "[UTP-10.7-4] a stop",
      ofTurn("step", { step_id: "step_stop_1", phase: "failed" }),
      "ann",
      "was stopped",
      "turn_1",
    ],
    [
      "a state",
      ofTurn("state", { status: "suspended", metadata: { waiting_tool_count: 2, waiting_tool_call_ids: ["a", "b"] } }),
      "ann",
      "waits for 2 calls",
      "turn_1",
    ],
    [
      "[SEE-11] a result that is read, maybe long after its call has ended",
      ofTurn("state", { status: "suspended", metadata: { waiting_tool_count: 1 } }),
      "ann",
      "reads a result, 1 more to read",
      "turn_1",
    ],
    [
      "the end of a turn",
      ofTurn("task", {
        status: "success",
        stats: { step_count: 2, duration_ms: 1500, llm_usage: { total_tokens: 40 } },
      }),
      "ann",
      "ended: success (2 steps, 1.5 s, 40 tokens)",
      "turn_1",
    ],
    [
      "[STOP-1] a stopped turn",
      ofTurn("task", { status: "failed", error_code: "stopped", error: "enough" }),
      "ann",
      "ended: stopped: enough",
      "turn_1",
    ],
    [
      "text of a model",
      event("str.agent.ann.chunk", { agent_turn_id: "turn_1", chunk_type: "content", content: "Hi\u001b[2J" }),
      "ann",
      'says "Hi\\u001b[2J"',
      "turn_1",
    ],
    ["a part", event("str.agent.ann.part", { tool_call_id: "c1", part: { n: 1 } }), "ann", 'shows {"n":1}', "call c1"],
    ["something else", event("evt.sys.ui.action_ack", { ok: true }), "evt.sys.ui.action_ack", '{"ok":true}', ""],
  ])("%s", (_, source, agent, text, id) => {
    expect(planEventLine(source)).toMatchObject({ agent, text, id });
  });

  test("[SEE-12] the end of a call says how long it took from its request, if both were seen", () => {
    const lines: string[] = [];
    const show = createSpans();
    for (const [phase, at] of [
      ["dispatched", "2030-01-01T10:00:00.000Z"],
      ["leased", "2030-01-01T10:00:01.000Z"],
      ["settled", "2030-01-01T10:00:01.500Z"],
      ["settled", "2030-01-01T10:00:09.000Z"],
    ] as const)
      lines.push(show(planEventLine(call(phase, { at })) as EventLine));
    expect(lines).toEqual(["", "", " in 1.5 s", ""]);
  });

  test("the start and the end of a model's text are not lines", () => {
    expect(planEventLine(event("str.agent.ann.chunk", { chunk_type: "start" }))).toBeUndefined();
  });

  test("filters: by kind, agent, tool and turn", () => {
    const line = planEventLine(call("settled", { status: "success" })) as EventLine;
    for (const [flags, wanted] of [
      [{}, true],
      [{ only: "call,turn" }, true],
      [{ only: "step" }, false],
      [{ agent: "sys.api" }, true],
      [{ agent: "ann" }, false],
      [{ tool: "pay" }, true],
      [{ tool: "other" }, false],
      [{ turn: "turn_c1" }, true],
      [{ turn: "turn_1" }, false],
    ] as const)
      expect(planFilter(flags)(line), JSON.stringify(flags)).toBe(wanted);
    expect(() => planFilter({ only: "calls" })).toThrow("--only takes call, turn");
  });
});
