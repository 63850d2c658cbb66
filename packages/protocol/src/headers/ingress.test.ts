import { describe, expect, test } from "vitest";
import { tryParseSubject } from "../subjects/subject.ts";
import { ingress } from "./ingress.ts";

const refused = expect.objectContaining({ code: "protocol_violation" });
const ids = { traceId: () => "1".repeat(32), spanId: () => "2".repeat(16) };
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const TRACEPARENT = `00-${TRACE}-b7ad6b7169203331-01`;
const COMMAND = "cg.v1r4.demo.public.cmd.tool.text.run";
const EVENT = "cg.v1r4.demo.public.evt.agent.helper.task";
const WAKEUP = "cg.v1r4.demo.public.cmd.agent.pool.wakeup";
const GATEWAY = "cg.v1r4.demo.public.rpc.gateway.text.put_card";

const full = {
  "CG-Project-Id": "demo",
  "CG-Channel-Id": "public",
  "CG-Agent-Id": "helper",
  "CG-Turn-Id": "turn_1",
  "CG-Turn-Epoch": "3",
  "CG-Step-Id": "step_1",
  "CG-Tool-Call-Id": "tc_1",
  "CG-Parent-Agent-Id": "boss",
  "CG-Parent-Turn-Id": "turn_0",
  "CG-Parent-Step-Id": "step_0",
  "CG-Recursion-Depth": "2",
  traceparent: TRACEPARENT,
};

const enter = (subject: string, headers: Readonly<Record<string, unknown>> | null, payload: unknown = {}) =>
  ingress({ subject: tryParseSubject(subject), headers, payload }, ids);

describe("ingress", () => {
  test("[UTP-D01] [UTP-D02] [UTP-2.3-10] identity comes from headers and subject", () => {
    const payload = { tool_call_card_id: "card_1", tool_name: "count_words", after_execution: "suspend" };
    const { context, payload: kept } = enter(COMMAND, full, payload);
    expect(context).toEqual({
      projectId: "demo",
      channelId: "public",
      agentId: "helper",
      agentTurnId: "turn_1",
      turnEpoch: 3,
      recursionDepth: 2,
      stepId: "step_1",
      toolCallId: "tc_1",
      traceId: TRACE,
      parentAgentId: "boss",
      parentAgentTurnId: "turn_0",
      parentStepId: "step_0",
      headers: full,
    });
    expect(kept).toEqual(payload);
  });

  test("[UTP-2.3-1] a subject that did not parse is a violation", () => {
    expect(() => ingress({ subject: undefined, headers: full, payload: {} }, ids)).toThrow(refused);
  });

  test.each([null, "text", 7, [1], undefined])("[UTP-2.3-1] the payload %j counts as an empty object", (payload) => {
    expect(enter(COMMAND, full, payload).payload).toEqual({});
  });

  test("[UTP-1.1-5] another version does not pass", () => {
    const subject = tryParseSubject("cg.v1r2.demo.public.cmd.tool.text.run");
    expect(() => ingress({ subject, headers: full, payload: {} }, ids)).toThrow(refused);
  });

  test("[UTP-D02] a call id in the payload of a command is a violation", () => {
    expect(() => enter(COMMAND, full, { tool_call_id: "tc_1" })).toThrow(
      /^cmd ingress: payload carries control fields: tool_call_id$/,
    );
  });

  test("[UTP-W36] unknown keys pass", () => {
    const payload = { tool_call_card_id: "c", invented: { agent_id: "x" }, "x-note": 1 };
    expect(enter(COMMAND, full, payload).payload).toEqual(payload);
  });

  test("[UTP-2.3-3] an event loses its control fields", () => {
    const { payload } = enter(EVENT, full, { agent_turn_id: "other", agent_id: "evil", status: "success" });
    expect(payload).toEqual({ status: "success" });
  });

  test("the gateway's bodies are those of the HTTP routes and stay whole", () => {
    expect(enter(GATEWAY, full, { tool_call_id: "tc_1", type: "tool.result" }).payload).toEqual({
      tool_call_id: "tc_1",
      type: "tool.result",
    });
  });

  test("[UTP-2.3-15] a stream message has no context", () => {
    expect(() => enter("cg.v1r4.demo.public.str.agent.helper.chunk", full)).toThrow(refused);
  });

  test("[UTP-2.2-2] header-like keys are reported, not refused", () => {
    expect(enter(COMMAND, full, { "CG-Agent-Id": "evil" }).headerLikeKeys).toEqual(["CG-Agent-Id"]);
    expect(enter(COMMAND, full).headerLikeKeys).toEqual([]);
  });

  test("[UTP-2.1-2] a header in another case is not an identity", () => {
    expect(() => enter(COMMAND, { "cg-agent-id": "helper" })).toThrow(/CG-Agent-Id is missing/);
    expect(enter(COMMAND, { "cg-agent-id": "evil", "CG-Agent-Id": "helper" }).context.headers).not.toHaveProperty(
      "cg-agent-id",
    );
  });
});

describe("depth", () => {
  test.each(["-1", "1.5", "x", "", " ", "0x2", "1e2", "+1", "99999999999", "٣"])(
    "[UTP-2.3-5] %j is refused",
    (depth) => {
      expect(() => enter(COMMAND, { ...full, "CG-Recursion-Depth": depth })).toThrow(refused);
    },
  );

  test.each([
    ["0", 0],
    ["7", 7],
    [" 7 ", 7],
    [7, 7],
    ["007", 7],
  ])("[UTP-2.3-5] %j is %i", (depth, expected) => {
    const { context } = enter(COMMAND, { ...full, "CG-Recursion-Depth": depth });
    expect(context.recursionDepth).toBe(expected);
    expect(context.headers["CG-Recursion-Depth"]).toBe(String(expected));
  });

  test("[UTP-2.3-5] without a header it is 0, and the header says so", () => {
    const { context } = enter(COMMAND, { "CG-Agent-Id": "helper" });
    expect(context.recursionDepth).toBe(0);
    expect(context.headers["CG-Recursion-Depth"]).toBe("0");
  });
});

describe("project, channel, agent, epoch", () => {
  const mismatches = [
    ["CG-Project-Id", "other"],
    ["CG-Project-Id", ""],
    ["CG-Project-Id", "Demo"],
    ["CG-Channel-Id", "u_1"],
  ] as const;
  test.each(mismatches)("[UTP-2.3-6] [SEC-2-2] [UTP-6.1-E4] %s %j differs from the subject", (name, value) => {
    expect(() => enter(COMMAND, { ...full, [name]: value })).toThrow(new RegExp(`^${name} mismatch`));
    expect(() => enter(COMMAND, { ...full, [name]: value })).toThrow(refused);
  });

  test("[UTP-2.3-6] without the headers the subject speaks alone", () => {
    const { context } = enter("cg.v1r4.p1.u_1.cmd.tool.text.run", { "CG-Agent-Id": "helper" });
    expect([context.projectId, context.channelId]).toEqual(["p1", "u_1"]);
  });

  test("[UTP-2.3-7] [UTP-1.1-8] the target of an agent subject is the agent", () => {
    expect(enter(EVENT, null).context.agentId).toBe("helper");
    expect(enter(EVENT, { "CG-Agent-Id": "helper" }).context.agentId).toBe("helper");
    expect(() => enter(EVENT, { "CG-Agent-Id": "boss" })).toThrow(/^CG-Agent-Id mismatch/);
  });

  test("[UTP-2.3-8] [UTP-1.1-8] the target of a doorbell is a pool: the agent is the header's", () => {
    expect(enter(WAKEUP, { "CG-Agent-Id": "helper" }).context.agentId).toBe("helper");
  });

  test.each([
    WAKEUP,
    COMMAND,
    GATEWAY,
    "cg.v1r4.demo.public.cmd.sys.ui.action",
    "cg.v1r4.demo.public.evt.sys.ui.marker",
  ])("[UTP-2.3-8] %s needs CG-Agent-Id", (subject) => {
    expect(() => enter(subject, {})).toThrow(/CG-Agent-Id is missing/);
    expect(() => enter(subject, { "CG-Agent-Id": "  " })).toThrow(refused);
    expect(enter(subject, { "CG-Agent-Id": " sys.api " }).context.agentId).toBe("sys.api");
  });

  test("[UTP-2.3-9] a blank or absent epoch is 0", () => {
    for (const epoch of [undefined, null, "", "  "]) {
      expect(enter(COMMAND, { ...full, "CG-Turn-Epoch": epoch }).context.turnEpoch).toBe(0);
    }
  });

  test.each(["x", "-1", "1.0", "3 4"])("[UTP-2.3-9] the epoch %j is refused", (epoch) => {
    expect(() => enter(COMMAND, { ...full, "CG-Turn-Epoch": epoch })).toThrow(refused);
  });
});

describe("trace", () => {
  test("[UTP-2.5-10] the trace id is the one inside traceparent, and is written in lower case", () => {
    const { context } = enter(COMMAND, {
      ...full,
      traceparent: TRACEPARENT.toUpperCase(),
      "CG-Trace-ID": "3".repeat(32),
    });
    expect(context.traceId).toBe(TRACE);
    expect(context.headers.traceparent).toBe(TRACEPARENT);
  });

  test("[UTP-2.2-1] a missing traceparent is made", () => {
    const { context } = enter(COMMAND, { "CG-Agent-Id": "helper" });
    expect(context.headers.traceparent).toBe(`00-${"1".repeat(32)}-${"2".repeat(16)}-01`);
    expect(context.traceId).toBe("1".repeat(32));
  });

  test("[UTP-W31] a broken traceparent or parent traceparent is refused", () => {
    expect(() => enter(COMMAND, { ...full, traceparent: "00-abc" })).toThrow(refused);
    expect(() => enter(COMMAND, { ...full, "CG-Parent-Traceparent": "00-abc" })).toThrow(refused);
  });

  test("[UTP-2.5-7] a tracestate stays, an empty one goes", () => {
    expect(enter(COMMAND, { ...full, tracestate: "a=1" }).context.headers.tracestate).toBe("a=1");
    expect(enter(COMMAND, { ...full, tracestate: " " }).context.headers).not.toHaveProperty("tracestate");
  });
});
