import { describe, expect, test } from "vitest";
import { ensureTraceHeader, messageTypeOf, stampHeaders } from "./stamps.ts";

const ids = { traceId: () => "1".repeat(32), spanId: () => "2".repeat(16) };

describe("stamps", () => {
  test("[UTP-2.1-4] are written when absent", () => {
    expect(
      stampHeaders({ a: "1" }, { timestampMs: 1_730_000_000_123.9, msgType: "tool_command", sender: "engine" }),
    ).toEqual({
      a: "1",
      "CG-Timestamp": "1730000000123",
      "CG-Version": "v1r4",
      "CG-Msg-Type": "tool_command",
      "CG-Sender": "engine",
    });
  });

  test("[UTP-2.1-4] never replace what is there", () => {
    const given = { "CG-Timestamp": "1", "CG-Version": "v9", "CG-Msg-Type": "mine", "CG-Sender": "me" };
    expect(stampHeaders(given, { timestampMs: 2, msgType: "x", sender: "y" })).toEqual(given);
  });

  test("[UTP-2.1-5] the sender is cg-nats-client unless configured", () => {
    expect(stampHeaders({}, { timestampMs: 2, msgType: "x" })["CG-Sender"]).toBe("cg-nats-client");
  });

  const types: readonly (readonly [unknown, string])[] = [
    [{ __msg_type__: "ToolCommand" }, "ToolCommand"],
    [{}, "fallback"],
    [null, "fallback"],
    ["text", "fallback"],
    [{ __msg_type__: 3 }, "fallback"],
    [{ __msg_type__: " " }, "fallback"],
    [{ __msg_type__: "a\r\nb" }, "fallback"],
    [Object.create({ __msg_type__: "inherited" }), "fallback"],
  ];
  test.each(types)("[UTP-2.1-5] the message type of %j is %s", (payload, expected) => {
    expect(messageTypeOf(payload, "fallback")).toBe(expected);
  });

  test("[UTP-2.2-1] the publisher makes a traceparent only when there is none", () => {
    expect(ensureTraceHeader({ a: "1" }, ids)).toEqual({
      a: "1",
      traceparent: `00-${"1".repeat(32)}-${"2".repeat(16)}-01`,
    });
    const given = `00-${"a".repeat(32)}-${"b".repeat(16)}-00`;
    expect(ensureTraceHeader({ traceparent: given }, ids).traceparent).toBe(given);
  });
});
