import { describe, expect, test } from "vitest";
import { parseWritableCard } from "../cards/card.ts";
import { createToolCallCard } from "../cards/tool-cards.ts";
import { ToolplaneError } from "../errors/toolplane-error.ts";
import { parseCommandPayload } from "../payloads/command.ts";
import { buildFailure, buildResult, draftResult } from "./result-builder.ts";
import { buildValidationFailure, planFailureIdentity } from "./validation-failure.ts";

const identity = { cardId: "r1", createdAt: "2026-01-02T03:04:05.000Z", projectId: "demo", authorId: "tool.text" };
const lineage = { step_id: "step_1", trace_id: "t".repeat(32), parent_step_id: "step_0" };
const call = createToolCallCard({
  ...identity,
  authorId: "helper",
  cardId: "c1",
  agentTurnId: "turn_1",
  toolCallId: "tc_1",
  toolName: "count",
  arguments: {},
  lineage,
});
const context = {
  ...identity,
  agentTurnId: "turn_1",
  toolCallId: "tc_1",
  toolName: "count",
  afterExecution: "terminate",
  toolCallMetadata: call.metadata,
};

describe("result builder", () => {
  test("[UTP-8.7-C11] a card with the call's identity and lineage, and the three-field callback", () => {
    const { card, payload } = buildResult(context, { status: "success", result: { n: 2 } });
    expect(parseWritableCard(card)).toEqual(card);
    expect(card).toEqual({
      card_id: "r1",
      project_id: "demo",
      type: "tool.result",
      author_id: "tool.text",
      created_at: identity.createdAt,
      content: {
        __type__: "ToolResultContent",
        status: "success",
        after_execution: "terminate",
        result: { n: 2 },
        error: null,
      },
      metadata: { ...lineage, role: "tool", agent_turn_id: "turn_1", tool_call_id: "tc_1", function_name: "count" },
      tool_calls: null,
      tool_call_id: "tc_1",
      ttl_seconds: null,
    });
    expect(payload).toEqual({ after_execution: "terminate", status: "success", tool_result_card_id: "r1" });
  });

  test("[INV-I11-C2] callback and card both repeat the command's value when a tool wishes otherwise", () => {
    const { card, payload } = buildResult(context, { status: "success", result: {}, afterExecution: "suspend" });
    expect(payload.after_execution).toBe("terminate");
    expect(card.content).toMatchObject({
      after_execution: "terminate",
      result: { __cg_control: { after_execution: "suspend" } },
    });
  });

  test("[UTP-8.7-C12] the function is named by the outcome, the builder, the command, or unknown", () => {
    const name = (functionNames: { outcome?: string; builder?: string; toolName?: string }) =>
      buildResult(
        { ...context, functionName: functionNames.builder, toolName: functionNames.toolName },
        { status: "success", functionName: functionNames.outcome },
      ).card.metadata.function_name;
    expect(name({ outcome: "o", builder: "b", toolName: "t" })).toBe("o");
    expect(name({ outcome: " ", builder: "b", toolName: "t" })).toBe("b");
    expect(name({ toolName: "t" })).toBe("t");
    expect(name({})).toBe("unknown");
  });

  test.each(["agentTurnId", "toolCallId", "projectId", "authorId"])("[UTP-8.7-C13] no result without %s", (key) => {
    expect(() => buildResult({ ...context, [key]: " " }, { status: "success" })).toThrow(ToolplaneError);
  });

  test("[UTP-D23-C1] a failure shows its error in the result too", () => {
    const { card, payload } = buildFailure(
      context,
      new ToolplaneError("auth_failed", "no key", { detail: { env: "KEY" } }),
    );
    const error = {
      code: "auth_failed",
      message: "no key",
      source: "tool",
      detail: { env: "KEY" },
      retryable: false,
      http_status: 403,
    };
    expect(payload.status).toBe("failed");
    expect(card.content).toMatchObject({
      error,
      result: { error_code: "auth_failed", error_message: "no key", error, error_detail: { env: "KEY" } },
    });
  });

  test("[UTP-8.7-C14] a failure may be a text, may have another status and keeps a result it was given", () => {
    expect(buildFailure(context, "no such city").card.content).toMatchObject({
      error: { code: "tool_error", message: "no such city" },
    });
    expect(buildFailure(context, "slow", { status: "timeout", result: { half: 1 } }).card.content).toMatchObject({
      status: "timeout",
      result: { half: 1 },
    });
    expect(buildFailure(context, null).card.content).toMatchObject({
      status: "failed",
      error: { message: "unknown error" },
    });
  });

  test("what the tool does to its object afterwards does not change the card", () => {
    const result = { list: [1] };
    const { card } = buildResult(context, { status: "success", result });
    result.list.push(2);
    expect(card.content).toMatchObject({ result: { list: [1] } });
  });

  test("[UTP-D16-C1] the definition a tool ran under is recorded, further metadata cannot replace identity", () => {
    const { card } = buildResult(
      { ...context, definitionHash: "ff", extra: { tool_call_id: "x", host: "text" } },
      { status: "success" },
    );
    expect(card.metadata).toMatchObject({ definition_hash: "ff", tool_call_id: "tc_1", host: "text" });
  });
});

describe("validation failure package", () => {
  const header = { agentTurnId: "turn_1", toolCallId: "tc_1" };
  const refusal = (payload: unknown): unknown => {
    try {
      return parseCommandPayload(payload);
    } catch (error) {
      return error;
    }
  };
  const package_ = (over: Partial<Parameters<typeof buildValidationFailure>[0]>) => {
    const payload = over.payload ?? { tool_name: "count" };
    return buildValidationFailure({
      header,
      payload,
      error: refusal(payload),
      defaultFunctionName: "text",
      context: identity,
      ...over,
    });
  };

  test("[UTP-8.5-C2] identity comes from the headers, else from the tool.call card, never from the payload", () => {
    expect(planFailureIdentity(header, undefined)).toEqual(header);
    expect(planFailureIdentity({}, call)).toEqual(header);
    expect(planFailureIdentity({ toolCallId: "tc_h" }, call)).toEqual({ agentTurnId: "turn_1", toolCallId: "tc_h" });
    expect(package_({ header: {}, payload: { agent_turn_id: "evil", tool_call_id: "evil" } })).toBeUndefined();
  });

  test("[UTP-8.5-C3] a card of another type is not a witness; without both ids nobody is answered", () => {
    expect(planFailureIdentity({}, { ...call, type: "task.context" })).toBeUndefined();
    expect(planFailureIdentity({ toolCallId: "tc_1" }, undefined)).toBeUndefined();
  });

  test("[UTP-8.5-C4] the result is failed, for the payload's tool or the service's own name, with the refusal as error", () => {
    const named = package_({});
    expect(named?.card.metadata).toMatchObject({
      function_name: "count",
      tool_call_id: "tc_1",
      agent_turn_id: "turn_1",
    });
    expect(named?.card.content).toMatchObject({
      status: "failed",
      after_execution: "suspend",
      error: { code: "bad_request" },
    });
    expect(package_({ payload: {} })?.card.metadata.function_name).toBe("text");
    expect(package_({ payload: "odd" })?.card.metadata.function_name).toBe("text");
    expect(parseWritableCard(named?.card)).toEqual(named?.card);
  });

  test("[UTP-8.5-C5] after_execution is the payload's when valid, else suspend with invalid_after_execution", () => {
    expect(package_({ payload: { after_execution: "terminate" } })?.payload.after_execution).toBe("terminate");
    expect(package_({ payload: { after_execution: "later" } })?.card.content).toMatchObject({
      after_execution: "suspend",
      error: { code: "invalid_after_execution" },
    });
  });

  test("[UTP-8.5-C6] lineage is the card's", () => {
    expect(package_({ card: call })?.card.metadata).toMatchObject(lineage);
  });
});

test("[UTP-8.8-C8] a failure that is reported with its error alone shows the error in its result too", () => {
  const { content } = draftResult(
    { ...context, mirrorError: true },
    { status: "failed", error: { code: "odd", message: "no" } },
  );
  expect(content.result).toMatchObject({ error_code: "odd", error_message: "no", error: { code: "odd" } });
  expect(draftResult(context, { status: "failed", result: { kept: 1 }, error: "no" }).content.result).toEqual({
    kept: 1,
  });
  expect(draftResult(context, { status: "success" }).content.result).toBeNull();
});
