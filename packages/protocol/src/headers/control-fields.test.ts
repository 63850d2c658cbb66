import { describe, expect, test } from "vitest";
import {
  CONTROL_FIELDS,
  controlFieldsOf,
  headerLikeKeys,
  payloadObject,
  refuseControlFields,
  stripControlFields,
} from "./control-fields.ts";

const refused = expect.objectContaining({ code: "protocol_violation" });
const LIST =
  "project_id channel_id channel agent_id agent_turn_id turn_epoch step_id tool_call_id trace_id traceparent tracestate " +
  "parent_agent_id parent_agent_turn_id parent_step_id parent_traceparent recursion_depth";

describe("control fields", () => {
  test("[UTP-2.3-11] the list is the protocol's", () => {
    expect(CONTROL_FIELDS).toEqual(LIST.split(" "));
  });

  test.each(CONTROL_FIELDS)("[UTP-2.3-2] [UTP-D01] %s in a command is refused, whatever its value", (field) => {
    for (const value of ["x", "", null, 0, {}]) {
      expect(() => refuseControlFields({ tool_name: "t", [field]: value }, "cmd ingress")).toThrow(refused);
    }
  });

  test("[UTP-2.3-13] the violation names the boundary and the keys in order", () => {
    expect(() => refuseControlFields({ step_id: 1, x: 2, agent_id: 3 }, "cmd ingress")).toThrow(
      expect.objectContaining({
        message: "cmd ingress: payload carries control fields: agent_id, step_id",
        detail: { boundary: "cmd ingress", fields: ["agent_id", "step_id"] },
      }),
    );
  });

  test("[UTP-2.3-11] names are exact and deeper levels do not count", () => {
    const payload = {
      Agent_Id: "x",
      "agent_id ": "x",
      source_agent_id: "x",
      metadata: { agent_id: "x" },
      list: [{ step_id: "x" }],
    };
    expect(controlFieldsOf(payload)).toEqual([]);
    expect(stripControlFields(payload)).toBe(payload);
  });

  test("[UTP-2.3-12] a resume also refuses source_agent_id", () => {
    expect(() => refuseControlFields({ source_agent_id: "x" }, "replay ingress", true)).toThrow(refused);
    expect(() => refuseControlFields({ source_agent_id: "x" }, "replay ingress")).not.toThrow();
  });

  test("[UTP-2.3-3] stripping keeps the rest, and a __proto__ key stays data", () => {
    const payload = JSON.parse('{"agent_id":"x","status":"success","__proto__":{"admin":true}}') as Record<
      string,
      unknown
    >;
    const stripped = stripControlFields(payload);
    expect(Object.keys(stripped)).toEqual(["status", "__proto__"]);
    expect(Object.getPrototypeOf(stripped)).toBe(Object.prototype);
  });

  test("[UTP-2.2-2] keys that look like headers are listed", () => {
    expect(headerLikeKeys({ "cg-agent-id": 1, "CG-Turn-Id": 2, "Cg-x": 3, cg: 4, cgx: 5, "x-cg-": 6 })).toEqual([
      "cg-agent-id",
      "CG-Turn-Id",
      "Cg-x",
    ]);
  });

  test.each([null, undefined, 3, "text", [{ agent_id: "x" }], true])(
    "[UTP-2.3-1] %j counts as an empty payload",
    (value) => {
      expect(payloadObject(value)).toEqual({});
    },
  );
});
