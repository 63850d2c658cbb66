import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createContext } from "./context.ts";
import { contextFromSystemDict, systemDict, telemetryAttributes } from "./system-dict.ts";

const refused = expect.objectContaining({ code: "protocol_violation" });
const context = createContext({ projectId: "demo", agentId: "helper", turnEpoch: 3, stepId: "s", headers: { a: "1" } });
const dict = {
  project_id: "demo",
  channel_id: "public",
  agent_id: "helper",
  agent_turn_id: "",
  turn_epoch: 3,
  step_id: "s",
  tool_call_id: null,
  trace_id: null,
  parent_agent_id: null,
  parent_agent_turn_id: null,
  parent_step_id: null,
  recursion_depth: 0,
};

describe("system dict", () => {
  test("[UTP-3-12] has twelve fields and no headers", () => {
    expect(systemDict(context)).toEqual(dict);
    expect(Object.keys(systemDict(context))).toHaveLength(12);
  });

  test("[UTP-3-12] reads back into the same context", () => {
    const id = fc.option(fc.string({ unit: fc.constantFrom(..."ab1_-."), minLength: 1 }), { nil: null });
    const fields = fc.record({
      stepId: id,
      toolCallId: id,
      traceId: id,
      parentAgentId: id,
      parentAgentTurnId: id,
      parentStepId: id,
      agentTurnId: id,
      turnEpoch: fc.nat(),
      recursionDepth: fc.nat(),
    });
    fc.assert(
      fc.property(fields, (given) => {
        const value = createContext({ projectId: "demo", agentId: "helper", ...given });
        expect(contextFromSystemDict(JSON.parse(JSON.stringify(systemDict(value))))).toEqual(value);
      }),
    );
    expect(contextFromSystemDict(dict, { a: "1" })).toEqual(context);
  });

  test("unknown keys are ignored, wrong values refused", () => {
    expect(contextFromSystemDict({ ...dict, headers: { evil: "1" }, other: 1 }).headers).toEqual({});
    for (const wrong of [null, [], "x", {}, { ...dict, agent_id: 7 }, { ...dict, turn_epoch: -1 }]) {
      expect(() => contextFromSystemDict(wrong), JSON.stringify(wrong)).toThrow(refused);
    }
  });
});

test("[UTP-3-13] telemetry attributes are cg.<field> for what is set", () => {
  expect(telemetryAttributes(context)).toEqual({
    "cg.project_id": "demo",
    "cg.channel_id": "public",
    "cg.agent_id": "helper",
    "cg.turn_epoch": 3,
    "cg.step_id": "s",
    "cg.recursion_depth": 0,
  });
});
