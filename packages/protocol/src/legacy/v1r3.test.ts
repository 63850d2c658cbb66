import { describe, expect, test } from "vitest";
import { ingress } from "../headers/ingress.ts";
import { parseSubject } from "../subjects/subject.ts";
import { adaptLegacyRequest, isLegacySubject, lowerCommand } from "./v1r3.ts";

const refused = expect.objectContaining({ code: "protocol_violation" });
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const TRACEPARENT = `00-${TRACE}-b7ad6b7169203331-01`;
const ids = { traceId: () => "1".repeat(32), spanId: () => "2".repeat(16) };
const SUBJECT = "cg.v1r3.demo.public.rpc.gateway.text.report";
const COMMAND = "cg.v1r3.demo.public.cmd.tool.text.run";
const business = { tool_call_card_id: "card_1", tool_name: "count_words", after_execution: "suspend" };
const identity = { agent_id: "helper", agent_turn_id: "turn_1", turn_epoch: 3, tool_call_id: "tc_1" };
const payload = { status: "success", tool_result_card_id: "card_2" };

const adapt = (said: Readonly<Record<string, unknown>>, headers: Readonly<Record<string, unknown>> = {}) =>
  adaptLegacyRequest({ subject: SUBJECT, headers, identity: { ...identity, ...said }, payload }, ids);

describe("the older version at the boundary", () => {
  test("[UTP-D27-1] a request's identity becomes headers, its payload keeps the business fields", () => {
    expect(adapt({}, { traceparent: TRACEPARENT, "X-Team": "blue", "CG-Version": "v1r3" })).toEqual({
      subject: "cg.v1r4.demo.public.rpc.gateway.text.report",
      headers: {
        "CG-Agent-Id": "helper",
        "CG-Turn-Id": "turn_1",
        "CG-Turn-Epoch": "3",
        "CG-Tool-Call-Id": "tc_1",
        traceparent: TRACEPARENT,
        "X-Team": "blue",
      },
      payload,
    });
  });

  test("[UTP-D27-1] every control field finds its header, and the outcome passes ingress", () => {
    const adapted = adapt({
      project_id: "demo",
      channel: "public",
      channel_id: "public",
      step_id: "step_1",
      trace_id: TRACE,
      tracestate: "a=1",
      parent_agent_id: "boss",
      parent_agent_turn_id: "turn_0",
      parent_step_id: "step_0",
      parent_traceparent: TRACEPARENT,
      recursion_depth: 2,
    });
    const { context } = ingress({ ...adapted, subject: parseSubject(adapted.subject) }, ids);
    expect(context).toMatchObject({
      projectId: "demo",
      channelId: "public",
      agentId: "helper",
      agentTurnId: "turn_1",
      turnEpoch: 3,
      stepId: "step_1",
      toolCallId: "tc_1",
      traceId: TRACE,
      parentAgentId: "boss",
      parentAgentTurnId: "turn_0",
      parentStepId: "step_0",
      recursionDepth: 2,
    });
    expect(context.headers).toMatchObject({
      tracestate: "a=1",
      "CG-Parent-Traceparent": TRACEPARENT,
      traceparent: `00-${TRACE}-${"2".repeat(16)}-01`,
    });
  });

  test.each([
    [{ "CG-Agent-Id": "boss" }, {}],
    [{ "CG-Agent-Id": "Helper" }, {}],
    [{ "CG-Turn-Epoch": "4" }, {}],
    [{ traceparent: TRACEPARENT }, { trace_id: "3".repeat(32) }],
    [{}, { channel: "a", channel_id: "b" }],
  ])("[UTP-D27-2] headers %j against payload %j is refused", (headers, said) => {
    expect(() => adapt(said, headers)).toThrow(refused);
  });

  test("[UTP-D27-2] the same said twice is fine, hex digits in any case", () => {
    const headers = { "CG-Agent-Id": "helper", traceparent: TRACEPARENT.toUpperCase() };
    expect(adapt({ traceparent: TRACEPARENT }, headers).headers).toMatchObject({
      "CG-Agent-Id": "helper",
      traceparent: TRACEPARENT,
    });
  });

  test("[UTP-D27-2] a payload that names another project than the subject fails at ingress", () => {
    const adapted = adapt({ project_id: "other" });
    expect(() => ingress({ ...adapted, subject: parseSubject(adapted.subject) }, ids)).toThrow(
      /^CG-Project-Id mismatch/,
    );
  });

  test.each([{ agent_id: {} }, { agent_id: ["helper"] }, { step_id: true }, { agent_id: "a\r\nb" }, { step_id: "é" }])(
    "ids that are not ids are refused: %j",
    (said) => {
      expect(() => adapt(said)).toThrow(refused);
    },
  );

  test("[UTP-D27-1] a request that names no trace gets none", () => {
    expect(adapt({}).headers).not.toHaveProperty("traceparent");
  });

  test("[UTP-D27-1] a command for such a service has its identity in the payload", () => {
    const headers = {
      "CG-Project-Id": "demo",
      "CG-Agent-Id": "helper",
      "CG-Turn-Id": "turn_1",
      "CG-Turn-Epoch": "3",
      "CG-Tool-Call-Id": "tc_1",
      "CG-Recursion-Depth": "0",
      "CG-Version": "v1r4",
      traceparent: TRACEPARENT,
    };
    expect(lowerCommand({ headers, payload: business })).toEqual({
      headers: { traceparent: TRACEPARENT, "CG-Version": "v1r3" },
      payload: { ...identity, ...business },
    });
  });

  test("only the older version is adapted", () => {
    expect(isLegacySubject(COMMAND)).toBe(true);
    for (const subject of [
      "cg.v1r4.demo.public.cmd.tool.text.run",
      "cg.v1r2.demo.public.cmd.tool.text.run",
      "nonsense",
    ]) {
      expect(isLegacySubject(subject)).toBe(false);
      expect(() => adaptLegacyRequest({ subject, headers: {}, identity, payload }, ids)).toThrow(refused);
    }
  });
});
