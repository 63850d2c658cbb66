import { HEADERS } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { countingIds, type SampleOptions, sampleCall } from "../../test/sample-call.ts";
import { planCommand } from "./plan-command.ts";

const PLACE = { projectId: "demo", target: "text" };
const plan = (options: SampleOptions) => planCommand(sampleCall(options).command, PLACE, countingIds());
const payload = { tool_call_card_id: "card_call_1", tool_name: "count_words", after_execution: "suspend" };

describe("a command that is not for this service", () => {
  test.each([
    ["does not parse", "cg.v1r4.demo"],
    ["is of another category", "cg.v1r4.demo.public.evt.tool.text.x"],
    ["is of another component", "cg.v1r4.demo.public.cmd.sys.text.x"],
    ["is for another target", "cg.v1r4.demo.public.cmd.tool.other.x"],
    ["is of another project", "cg.v1r4.else.public.cmd.tool.text.x"],
  ])("[UTP-8.3-1] [UTP-8.2-4] its subject %s: ignored", (_name, subject) => {
    expect(plan({ subject }).kind).toBe("ignore");
  });
});

describe("a command that says nothing usable", () => {
  test.each([
    ["no agent", { [HEADERS.agentId]: undefined }],
    ["a broken trace", { [HEADERS.traceparent]: "nonsense" }],
    ["a project that is not the subject's", { [HEADERS.projectId]: "else" }],
    ["a depth that is not a number", { [HEADERS.recursionDepth]: "deep" }],
  ])("[UTP-8.3-3] %s in the headers: swallowed", (_name, headers) => {
    expect(plan({ headers })).toMatchObject({ kind: "swallow", error: { code: "protocol_violation" } });
  });
});

describe("a command that can still be answered", () => {
  test.each([
    ["identity in the payload", { ...payload, tool_call_id: "call_9" }, "protocol_violation", "tool_call_id"],
    ["inline args", { ...payload, args: {} }, "protocol_violation", "args"],
    ["inline arguments", { ...payload, arguments: {} }, "protocol_violation", "arguments"],
    ["an inline result", { ...payload, result: 1 }, "protocol_violation", "result"],
    ["no card", { ...payload, tool_call_card_id: undefined }, "bad_request", "tool_call_card_id"],
    ["a blank tool name", { ...payload, tool_name: "  " }, "bad_request", "tool_name"],
    ["no after_execution", { ...payload, after_execution: null }, "bad_request", "after_execution"],
    ["an unknown after_execution", { ...payload, after_execution: "explode" }, "bad_request", "after_execution"],
    ["no object", "text", "bad_request", "object"],
  ])("[UTP-8.2-2] [UTP-8.2-3] [UTP-8.3-4] [UTP-8.3-5] %s: refused by name", (_name, bad, code, word) => {
    expect(plan({ payload: bad })).toMatchObject({
      kind: "refuse",
      error: { code, message: expect.stringContaining(word) },
      context: { toolCallId: "call_1", agentTurnId: "turn_1" },
    });
  });

  test.each([
    ["CG-Tool-Call-Id", HEADERS.toolCallId],
    ["CG-Turn-Id", HEADERS.turnId],
  ])("[UTP-8.3-6] without %s: refused", (name, header) => {
    expect(plan({ headers: { [header]: undefined } })).toMatchObject({
      kind: "refuse",
      error: { code: "protocol_violation", message: `${name} is missing` },
    });
  });
});

test("[UTP-8.2-3] a sound command is accepted; unknown keys are nobody's business", () => {
  expect(plan({ payload: { ...payload, extension: 1 } })).toMatchObject({
    kind: "accept",
    payload,
    toolCallId: "call_1",
  });
});
