import { describe, expect, test } from "vitest";
import { createFakeTerminal } from "../../test/cli/fake-terminal.ts";
import { turnFailure, turnStatus } from "./turn-outcome.ts";

const turn = (code: string, message: string, more: object = {}) => ({
  agent_turn_id: "turn_1",
  agent_id: "ann",
  status: "failed",
  error: { code, message },
  ...more,
});

describe("[SEE-3] a turn that failed is one paragraph", () => {
  test.each([
    [
      turn("max_steps_reached", "max_steps_reached (max_steps=8)"),
      "it ended as failed: max_steps_reached: the agent used all its steps without handing in a result; raise budget.steps in its profile, or run it with --max-steps",
    ],
    [
      turn("upstream_unavailable", "the model did not answer", {
        deliverable: { kind: "fallback_deliverable", diagnostics: { last_agent_thought: "Let me see." } },
      }),
      'it ended as failed: upstream_unavailable: the model did not answer; the last it said is "Let me see."; see that the model can be reached, then ask again',
    ],
    [turn("strange_code", "what it says"), "it ended as failed: strange_code: what it says; see its steps"],
    [turn("stopped", "not now"), "it was stopped: not now"],
  ])("%#", (failed, sentence) => {
    expect(turnFailure(failed)).toBe(sentence);
  });

  test("[STOP-1] a stopped turn is shown as stopped", () => {
    expect([turnStatus(turn("stopped", "x")), turnStatus(turn("internal_error", "x"))]).toEqual(["stopped", "failed"]);
  });
});

const WHOLE = {
  agent_turn_id: "turn_1",
  status: "success",
  agent_id: "ann",
  source_agent_id: "sys.api",
  instruction: "count",
  created_at: "2030-01-01T00:00:00.000Z",
  ended_at: "2030-01-01T00:00:02.500Z",
  recursion_depth: 0,
  deliverable: "three",
  steps: [
    {
      status: "completed",
      started_at: "2030-01-01T00:00:00.000Z",
      ended_at: "2030-01-01T00:00:01.000Z",
      metadata: { llm_usage: { prompt_tokens: 10, completion_tokens: 5 } },
      thought: "Let me look.",
      calls: [
        {
          tool_call_id: "c1",
          tool_name: "count",
          arguments: { text: "a b c" },
          status: "failed",
          error: { code: "tool_error", message: "no" },
          asked_at: "2030-01-01T00:00:00.100Z",
          answered_at: "2030-01-01T00:00:00.300Z",
        },
      ],
    },
  ],
};

describe("[SEE-2] turns show", () => {
  const show = async (tty: boolean, env = {}): Promise<string> => {
    const terminal = createFakeTerminal({ answer: () => ({ body: WHOLE }), tty, env });
    expect(await terminal.run("turns", "show", "turn_1")).toBe(0);
    expect(terminal.requests[0]?.url).toMatch(/\/turns\/turn_1\?detail=full$/);
    return terminal.out();
  };

  test("the instruction, each thought, calls with arguments and results, tokens and time", async () => {
    expect(await show(false)).toBe(
      [
        "turn         turn_1",
        "status       success",
        "agent        ann",
        "asked by     sys.api",
        "instruction  count",
        "took         2.5 s, 1 step, 15 tokens",
        "created      2030-01-01T00:00:00.000Z",
        "ended        2030-01-01T00:00:02.500Z",
        "step 1  1.0 s, 15 tokens",
        "  Let me look.",
        '  count {"text":"a b c"}',
        "    failed in 0.200 s: tool_error: no  call c1",
        "deliverable",
        "  three",
        "",
      ].join("\n"),
    );
  });

  test("[SEE-7] in a terminal the status has the colour of its meaning, unless NO_COLOR is set", async () => {
    const [coloured, plain] = [await show(true), await show(true, { NO_COLOR: "1" })];
    expect(coloured).toContain("\u001b[32msuccess\u001b[0m");
    expect(coloured).toContain("\u001b[31mfailed\u001b[0m");
    expect(plain).not.toContain("\u001b[");
  });
});
