import { describe, expect, test } from "vitest";
import { failure } from "../../test/refusals.ts";
import { CONTROL_FIELDS } from "../headers/control-fields.ts";
import { ingress } from "../headers/ingress.ts";
import { AFTER_EXECUTIONS, coerceStatus, RESULT_STATUSES } from "../results/value-sets.ts";
import { parseSubject } from "../subjects/subject.ts";
import { parseCallbackPayload } from "./callback.ts";
import { parseCommandPayload } from "./command.ts";
import { mergeActionMetadata, UI_ACK_STATUSES, uiActionAckSchema, uiActionSchema } from "./ui-action.ts";
import { WAKEUP_REASONS, wakeupSchema } from "./wakeup.ts";

const command = { tool_call_card_id: "c1", tool_name: "count", after_execution: "suspend" } as const;
const callback = { status: "success", after_execution: "suspend", tool_result_card_id: "r1" } as const;

describe("value sets", () => {
  test("[UTP-8.1-C2] five statuses, two lifecycles", () => {
    expect(RESULT_STATUSES).toEqual(["success", "failed", "canceled", "timeout", "partial"]);
    expect(AFTER_EXECUTIONS).toEqual(["suspend", "terminate"]);
  });
  test("[UTP-D21-C1] a reader that must go on takes an unknown status for failed", () => {
    expect(RESULT_STATUSES.map(coerceStatus)).toEqual(RESULT_STATUSES);
    expect(["done", "", null, 5].map(coerceStatus)).toEqual(["failed", "failed", "failed", "failed"]);
  });
});

describe("command", () => {
  test("[UTP-1.4-C2] three fields are read and nothing else is passed on", () => {
    expect(parseCommandPayload({ ...command, priority: 5 })).toEqual(command);
  });

  test("[UTP-D04-C1] unknown keys are ignored, and refused in strict mode", () => {
    const input = { ...command, zeta: 1, alpha: 2 };
    expect(parseCommandPayload(input)).toEqual(command);
    const error = failure(() => parseCommandPayload(input, { strict: true }));
    expect([error.code, error.detail?.fields]).toEqual(["bad_request", ["alpha", "zeta"]]);
    expect(parseCommandPayload(command, { strict: true })).toEqual(command);
  });

  test.each(["args", "arguments", "result"])("[UTP-D05-C1] inline %s is a violation", (key) => {
    const error = failure(() => parseCommandPayload({ ...command, [key]: {} }));
    expect([error.code, error.detail?.fields]).toEqual(["protocol_violation", [key]]);
  });

  test.each(CONTROL_FIELDS)("[UTP-D01-C1] the control field %s is a violation, in commands and callbacks", (key) => {
    expect(failure(() => parseCommandPayload({ ...command, [key]: "x" })).code).toBe("protocol_violation");
    expect(failure(() => parseCallbackPayload({ ...callback, [key]: "x" })).code).toBe("protocol_violation");
  });

  test("[UTP-D09-C1] a box id in a command is an extension like any other: ignored, not passed on", () => {
    expect(parseCommandPayload({ ...command, context_box_id: "b1" })).toEqual(command);
  });

  test("[UTP-D06-C1] parameters are never taken from a command, under any name", () => {
    expect(failure(() => parseCommandPayload({ ...command, arguments: { text: "x" } })).code).toBe(
      "protocol_violation",
    );
    expect(parseCommandPayload({ ...command, params: { text: "x" } })).toEqual(command);
  });

  test("[UTP-1.4-C3] a violation names the boundary and all offending keys, sorted", () => {
    const input = { ...command, tool_call_id: "t", args: {}, agent_id: "a" };
    const error = failure(() => parseCommandPayload(input, { boundary: "cmd ingress" }));
    expect(error.detail).toEqual({ boundary: "cmd ingress", fields: ["agent_id", "args", "tool_call_id"] });
    expect(error.message).toBe("cmd ingress: the payload may not carry agent_id, args, tool_call_id");
  });

  const missing: readonly [string, unknown, readonly string[]][] = [
    ["everything", {}, ["tool_call_card_id", "tool_name", "after_execution"]],
    ["a blank card id", { ...command, tool_call_card_id: "  " }, ["tool_call_card_id"]],
    ["a null tool name", { ...command, tool_name: null }, ["tool_name"]],
    ["a blank lifecycle", { ...command, after_execution: "" }, ["after_execution"]],
    ["a card id that is not text", { ...command, tool_call_card_id: 5 }, ["tool_call_card_id"]],
  ];
  test.each(missing)("[UTP-D07-C1] missing or blank: %s", (_name, input, fields) => {
    const error = failure(() => parseCommandPayload(input));
    expect([error.code, error.detail?.fields]).toEqual(["bad_request", fields]);
    expect(error.message).toContain("missing required fields");
  });

  test.each(["later", "SUSPEND", 5, {}])("[UTP-1.4-C4] after_execution %j is bad_request", (after) => {
    const error = failure(() => parseCommandPayload({ ...command, after_execution: after }));
    expect([error.code, error.message]).toEqual([
      "bad_request",
      "command: after_execution must be suspend or terminate",
    ]);
  });

  test("[UTP-1.4-C5] an internal command may leave the tool's name out, an external one may not", () => {
    const { tool_name: _name, ...rest } = command;
    expect(parseCommandPayload(rest, { route: "internal" })).toEqual({ ...rest, tool_name: "unknown" });
    expect(failure(() => parseCommandPayload({ ...rest, after_execution: "x" }, { route: "internal" })).code).toBe(
      "bad_request",
    );
    expect(failure(() => parseCommandPayload(rest)).detail?.fields).toEqual(["tool_name"]);
  });

  test.each([null, [], "x", 1, undefined])("a payload that is %j is refused", (input) => {
    expect(failure(() => parseCommandPayload(input)).code).toBe("bad_request");
    expect(failure(() => parseCallbackPayload(input)).code).toBe("bad_request");
  });
});

describe("callback", () => {
  test("[UTP-D03-C1] exactly three fields are read", () => {
    expect(parseCallbackPayload({ ...callback, note: "x" })).toEqual(callback);
    expect(failure(() => parseCallbackPayload({ ...callback, note: "x" }, { strict: true })).code).toBe("bad_request");
  });

  test.each(["result", "args", "arguments", "source_agent_id"])(
    "[UTP-D05-C2] %s in a callback is a violation",
    (key) => {
      expect(failure(() => parseCallbackPayload({ ...callback, [key]: 1 })).code).toBe("protocol_violation");
    },
  );

  const refused: readonly [string, object, string][] = [
    ["no pointer", { tool_result_card_id: " " }, "bad_request"],
    ["an unknown status", { status: "done" }, "invalid_status"],
    ["no status", { status: undefined }, "invalid_status"],
    ["an unknown lifecycle", { after_execution: "later" }, "invalid_after_execution"],
  ];
  test.each(refused)("[UTP-1.4-C6] %s is refused", (_name, change, code) => {
    expect(failure(() => parseCallbackPayload({ ...callback, ...change })).code).toBe(code);
  });
});

describe("doorbell", () => {
  test("[UTP-1.4-C1] everything is optional, and unknown keys are ignored", () => {
    expect(wakeupSchema.parse({})).toEqual({});
    expect(wakeupSchema.parse({ inbox_id: "i", metadata: { a: 1 }, more: 1 })).toEqual({
      inbox_id: "i",
      metadata: { a: 1 },
    });
    expect(wakeupSchema.safeParse({ metadata: [] }).success).toBe(false);
    expect(WAKEUP_REASONS.every((reason) => wakeupSchema.parse({ reason }).reason === reason)).toBe(true);
  });
});

describe("ui actions", () => {
  const action = { action_id: "a1", tool_name: "t", args: { x: 1 } };

  test("[UTP-1.4-C7] action_id, tool_name and args are required, the rest is optional", () => {
    const full = { ...action, message_id: "m", metadata: {} };
    expect(uiActionSchema.parse(full)).toEqual(full);
    for (const change of [
      { action_id: undefined },
      { tool_name: undefined },
      { args: undefined },
      { action_id: " " },
      { args: [] },
      { metadata: "x" },
    ]) {
      expect(uiActionSchema.safeParse({ ...action, ...change }).success).toBe(false);
    }
  });

  test("[UTP-1.4-C8] identity in an action is a violation, although its arguments are inline", () => {
    const subject = parseSubject("cg.v1r4.demo.public.cmd.sys.ui.action");
    const headers = { "CG-Agent-Id": "helper", "CG-Turn-Id": "turn_1" };
    const ids = { traceId: () => "1".repeat(32), spanId: () => "2".repeat(16) };
    expect(ingress({ subject, headers, payload: action }, ids).payload).toEqual(action);
    const payload = { ...action, agent_turn_id: "t" };
    expect(failure(() => ingress({ subject, headers, payload }, ids)).code).toBe("protocol_violation");
  });

  test("[UTP-13.1-C1] metadata joins the arguments, whose own keys win", () => {
    expect(mergeActionMetadata({ ...action, metadata: { a: 1, b: 2 } })).toEqual({ x: 1, metadata: { a: 1, b: 2 } });
    expect(mergeActionMetadata({ ...action, args: { metadata: { a: 0 } }, metadata: { a: 1, b: 2 } })).toEqual({
      metadata: { a: 0, b: 2 },
    });
    expect(mergeActionMetadata(action)).toBe(action.args);
  });

  test("[UTP-1.4-C9] an acknowledgement has one of four statuses", () => {
    const ack = { action_id: "a1", agent_id: "ui", status: "done" };
    expect(UI_ACK_STATUSES.map((status) => uiActionAckSchema.parse({ ...ack, status }).status)).toEqual([
      "accepted",
      "busy",
      "rejected",
      "done",
    ]);
    expect(uiActionAckSchema.safeParse({ ...ack, status: "failed" }).success).toBe(false);
    expect(uiActionAckSchema.safeParse({ ...ack, agent_id: undefined }).success).toBe(false);
  });
});
