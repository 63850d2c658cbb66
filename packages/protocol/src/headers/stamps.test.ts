import { describe, expect, test } from "vitest";
import { stampHeaders } from "./stamps.ts";

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
});
