import { describe, expect, test } from "vitest";
import { type ActionFacts, planAdmission } from "./plan-admission.ts";

const payload = { action_id: "a1", tool_name: "delegate", args: { to: "x" } };
const good: ActionFacts = {
  agentId: "ann",
  agentTurnId: "turn_ui",
  payload,
  workerTarget: "ui_worker",
  tool: { uiAllowed: true },
};
const codeOf = (facts: Partial<ActionFacts>): string | undefined => {
  const admission = planAdmission({ ...good, ...facts }, "ui_worker");
  return "refused" in admission ? admission.refused.errorCode : undefined;
};

describe("admission of a person's action", () => {
  test.each<[string, Partial<ActionFacts>, string]>([
    ["no action id", { payload: { ...payload, action_id: " " } }, "missing_required_fields"],
    ["no tool", { payload: { ...payload, tool_name: 7 } }, "missing_required_fields"],
    ["args that are a list", { payload: { ...payload, args: [] } }, "invalid_args"],
    ["no args", { payload: { action_id: "a", tool_name: "t" } }, "invalid_args"],
    ["metadata that is text", { payload: { ...payload, metadata: "x" } }, "invalid_metadata"],
    ["metadata of the args that is text", { payload: { ...payload, args: { metadata: 1 } } }, "invalid_metadata"],
  ])("[UTP-13.1-2] %s is refused with its code", (_name, facts, code) => {
    expect(codeOf(facts)).toBe(code);
  });

  test.each<[string, Partial<ActionFacts>, string]>([
    ["no agent", { agentId: "" }, "missing_required_fields"],
    ["no turn id", { agentTurnId: "" }, "missing_agent_turn_id"],
  ])("[UTP-2.2-5] [UTP-13.1-2] %s in the headers is refused with its code", (_name, facts, code) => {
    expect(codeOf(facts)).toBe(code);
  });

  test("[UTP-13.1-3] an unknown agent, and one of another pool, are refused", () => {
    expect(codeOf({ workerTarget: undefined })).toBe("agent_not_found");
    expect(codeOf({ workerTarget: "crew" })).toBe("invalid_worker_target");
  });

  test("[UTP-13.1-4] a tool that is not registered or not ui_allowed is refused", () => {
    expect(codeOf({ tool: undefined })).toBe("tool_definition_missing");
    expect(codeOf({ tool: { uiAllowed: false } })).toBe("ui_not_allowed");
  });

  test("metadata joins the arguments, whose own keys win; null is not given", () => {
    const admission = planAdmission(
      { ...good, payload: { ...payload, args: { metadata: { a: 1 } }, metadata: { a: 2, b: 3 }, message_id: "m" } },
      "ui_worker",
    );
    expect(admission).toEqual({
      action: { actionId: "a1", messageId: "m", toolName: "delegate", args: { metadata: { a: 1, b: 3 } } },
    });
    expect(planAdmission({ ...good, payload: { ...payload, metadata: null } }, "ui_worker")).toMatchObject({
      action: { args: { to: "x" } },
    });
  });
});
