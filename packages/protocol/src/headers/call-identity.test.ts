import { describe, expect, test } from "vitest";
import { isToolplaneError } from "../errors/toolplane-error.ts";
import { type CallIdentity, checkCallIdentity, checkCallTrace } from "./call-identity.ts";
import type { HeaderMap } from "./header-map.ts";

const call: CallIdentity = {
  projectId: "demo",
  subject: "cg.v1r4.demo.ops.cmd.tool.text.count",
  agentId: "helper",
  agentTurnId: "turn_1",
  turnEpoch: 3,
  stepId: "step_1",
  toolCallId: "tc_1",
  recursionDepth: 2,
  traceId: "a".repeat(32),
  headers: { "CG-Parent-Agent-Id": "boss", "CG-Parent-Step-Id": "step_0" },
};

const fault = (work: () => void): string | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    if (isToolplaneError(error) && error.code === "protocol_violation") return error.message;
    throw error;
  }
};

describe("headers of a request about a call", () => {
  test.each<[string, HeaderMap]>([
    ["nothing", {}],
    ["blank ids and a blank epoch", { "CG-Agent-Id": " ", "CG-Turn-Epoch": "", "CG-Step-Id": "" }],
    ["ids with blanks around them", { "CG-Turn-Id": " turn_1 " }],
    [
      "all of it, rightly",
      { "CG-Project-Id": "demo", "CG-Channel-Id": "ops", "CG-Turn-Epoch": "3", "CG-Recursion-Depth": "2" },
    ],
    ["headers that are nobody's identity", { "CG-Sender": "me", "CG-Timestamp": "now" }],
    ["its parents", { "CG-Parent-Agent-Id": "boss", "CG-Parent-Step-Id": "step_0", "CG-Parent-Turn-Id": "" }],
  ])("[DOOR-1-2] %s is accepted", (_, headers) => {
    expect(fault(() => checkCallIdentity(headers, call))).toBeUndefined();
  });

  test.each<[string, HeaderMap]>([
    ["CG-Project-Id", { "CG-Project-Id": "other" }],
    ["CG-Channel-Id", { "CG-Channel-Id": "public" }],
    ["CG-Agent-Id", { "CG-Agent-Id": "boss" }],
    ["CG-Turn-Id", { "CG-Turn-Id": "turn_2" }],
    ["CG-Step-Id", { "CG-Step-Id": "step_2" }],
    ["CG-Tool-Call-Id", { "CG-Tool-Call-Id": "tc_2" }],
    ["CG-Turn-Epoch", { "CG-Turn-Epoch": "0" }],
    ["CG-Turn-Epoch", { "CG-Turn-Epoch": "3.0" }],
    ["CG-Turn-Epoch", { "CG-Turn-Epoch": "-3" }],
    ["CG-Recursion-Depth", { "CG-Recursion-Depth": "0" }],
    ["CG-Recursion-Depth", { "CG-Recursion-Depth": "-1" }],
    ["CG-Recursion-Depth", { "CG-Recursion-Depth": "abc" }],
    ["CG-Recursion-Depth", { "CG-Recursion-Depth": "" }],
    ["CG-Parent-Agent-Id", { "CG-Parent-Agent-Id": "other" }],
    ["CG-Parent-Step-Id", { "CG-Parent-Step-Id": "step_1" }],
    ["CG-Parent-Turn-Id", { "CG-Parent-Turn-Id": "turn_0" }],
    ["CG-Parent-Traceparent", { "CG-Parent-Traceparent": `00-${"c".repeat(32)}-${"d".repeat(16)}-01` }],
  ])("[DOOR-1-1] %s is named when it contradicts the call: %j", (name, headers) => {
    expect(fault(() => checkCallIdentity(headers, call))).toContain(name);
  });

  test.each([undefined, "", `00-${"a".repeat(32)}-${"b".repeat(16)}-01`, `00-${"A".repeat(32)}-${"b".repeat(16)}-01`])(
    "[DOOR-1-2] the traceparent %s is accepted",
    (traceparent) => {
      expect(fault(() => checkCallTrace(traceparent, call))).toBeUndefined();
    },
  );

  test.each([`00-${"c".repeat(32)}-${"b".repeat(16)}-01`, "00-zz", `00-${"a".repeat(32)}-${"0".repeat(16)}-01`])(
    "[DOOR-1-1] the traceparent %s is refused",
    (traceparent) => {
      expect(fault(() => checkCallTrace(traceparent, call))).toContain("traceparent");
    },
  );
});
