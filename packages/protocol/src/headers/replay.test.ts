import { describe, expect, test } from "vitest";
import { CONTROL_FIELDS } from "./control-fields.ts";
import { type InboxRow, replay } from "./replay.ts";

const refused = expect.objectContaining({ code: "protocol_violation" });
const ids = { traceId: () => "1".repeat(32), spanId: () => "2".repeat(16) };
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const stored = {
  "CG-Project-Id": "stale",
  "CG-Agent-Id": "stale",
  "CG-Channel-Id": "u_9",
  "CG-Turn-Id": "turn_header",
  "CG-Turn-Epoch": "4",
  "CG-Step-Id": "step_1",
  "CG-Tool-Call-Id": "tc_1",
  "CG-Parent-Agent-Id": "boss",
  "CG-Parent-Turn-Id": "turn_0",
  "CG-Parent-Step-Id": "step_0",
  "CG-Recursion-Depth": "2",
  traceparent: `00-${TRACE}-b7ad6b7169203331-01`,
};
const row: InboxRow = {
  inboxId: "inbox_1",
  messageType: "tool_result",
  projectId: "demo",
  agentId: "helper",
  channelId: "public",
  agentTurnId: "turn_1",
  turnEpoch: 7,
  correlationId: "tc_1",
  contextHeaders: stored,
  payload: { status: "success", tool_result_card_id: "c1", after_execution: "suspend" },
};

describe("replay", () => {
  test("[UTP-2.4-3] [UTP-2.4-5] columns win, the rest comes from the stored headers", () => {
    const { context, payload } = replay(row, ids);
    expect(context).toMatchObject({
      projectId: "demo",
      agentId: "helper",
      channelId: "public",
      agentTurnId: "turn_1",
      turnEpoch: 7,
      stepId: "step_1",
      toolCallId: "tc_1",
      parentAgentId: "boss",
      parentAgentTurnId: "turn_0",
      parentStepId: "step_0",
      recursionDepth: 2,
      traceId: TRACE,
    });
    expect(payload).toEqual(row.payload);
  });

  test("[UTP-2.4-6] the five identity headers are rewritten from the row", () => {
    expect(replay(row, ids).context.headers).toEqual({
      ...stored,
      "CG-Project-Id": "demo",
      "CG-Agent-Id": "helper",
      "CG-Channel-Id": "public",
      "CG-Turn-Id": "turn_1",
      "CG-Turn-Epoch": "7",
    });
  });

  test("[UTP-2.4-3] an epoch of 0 falls back to the header, empty columns to theirs", () => {
    for (const nothing of [0, null, undefined]) {
      expect(replay({ ...row, turnEpoch: nothing }, ids).context.turnEpoch).toBe(4);
    }
    expect(replay({ ...row, agentTurnId: null, channelId: " " }, ids).context).toMatchObject({
      agentTurnId: "turn_header",
      channelId: "u_9",
    });
  });

  test("[UTP-1.1-7] without any channel it is public", () => {
    const contextHeaders = { ...stored, "CG-Channel-Id": null };
    expect(replay({ ...row, channelId: null, contextHeaders }, ids).context.channelId).toBe("public");
  });

  test.each(CONTROL_FIELDS)("[UTP-2.4-1] %s in a stored payload is refused", (field) => {
    expect(() => replay({ ...row, messageType: "turn", payload: { [field]: "x" } }, ids)).toThrow(
      /^replay ingress: payload carries/,
    );
  });

  test("[UTP-2.3-12] source_agent_id is refused where a turn is resumed", () => {
    for (const messageType of ["tool_result", "timeout"]) {
      expect(() => replay({ ...row, messageType, payload: { source_agent_id: "x" } }, ids)).toThrow(refused);
    }
    expect(replay({ ...row, messageType: "stop", payload: { source_agent_id: "x" } }, ids).payload).toEqual({
      source_agent_id: "x",
    });
  });

  test("[UTP-2.4-2] stored headers may be JSON text", () => {
    expect(replay({ ...row, contextHeaders: JSON.stringify(stored) }, ids)).toEqual(replay(row, ids));
  });

  test.each([null, undefined, "", "null", "[]", "{", "3", 7, [], {}, "{}", '"text"'])(
    "[UTP-2.4-2] stored headers %j are refused",
    (contextHeaders) => {
      expect(() => replay({ ...row, contextHeaders }, ids)).toThrow(refused);
    },
  );

  test("the refusal of broken text does not repeat the text", () => {
    expect(() => replay({ ...row, contextHeaders: '{"token": secret}' }, ids)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("secret") }),
    );
  });

  test.each(["traceparent", "CG-Recursion-Depth"])("[UTP-2.2-7] without %s replay fails", (name) => {
    for (const value of [null, "", " "]) {
      expect(() => replay({ ...row, contextHeaders: { ...stored, [name]: value } }, ids)).toThrow(
        new RegExp(`lack ${name}`),
      );
    }
  });

  const fallbacks = [
    [{ agentTurnId: "turn_1", correlationId: "corr", inboxId: "inbox" }, "turn_1"],
    [{ agentTurnId: "", correlationId: "corr", inboxId: "inbox" }, "corr"],
    [{ agentTurnId: null, correlationId: null, inboxId: "inbox" }, "inbox"],
    [{ agentTurnId: null, correlationId: " ", inboxId: "" }, "turn_header"],
  ] as const;
  test.each(fallbacks)("[UTP-2.4-4] a turn row %j has the turn %s", (columns, expected) => {
    expect(replay({ ...row, ...columns, messageType: "turn", payload: {} }, ids).context.agentTurnId).toBe(expected);
  });

  test("[UTP-2.4-4] a turn row without any turn id is a violation; another row is not", () => {
    const contextHeaders = { ...stored, "CG-Turn-Id": null };
    const bare = { ...row, agentTurnId: null, correlationId: null, inboxId: "", contextHeaders, payload: {} };
    expect(() => replay({ ...bare, messageType: "turn" }, ids)).toThrow(refused);
    const { context } = replay({ ...bare, messageType: "stop" }, ids);
    expect(context.agentTurnId).toBe("");
    expect(context.headers).not.toHaveProperty("CG-Turn-Id");
  });

  test.each([{ projectId: "" }, { agentId: " " }, { projectId: "a.b" }, { turnEpoch: -1 }])(
    "a row with %j is refused",
    (columns) => {
      expect(() => replay({ ...row, ...columns }, ids)).toThrow(refused);
    },
  );
});
