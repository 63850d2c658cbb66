import { describe, expect, test } from "vitest";
import { taskEventSubject } from "../subjects/families.ts";
import { expandSubjectTemplate } from "../subjects/target-template.ts";
import { type CGContext, createContext } from "./context.ts";
import { requireToolCall, requireTurn } from "./queries.ts";

const refused = expect.objectContaining({ code: "protocol_violation" });
const bare = createContext({ projectId: "demo", agentId: "sys.api" });
const full = createContext({
  projectId: "demo",
  channelId: "u_1",
  agentId: "helper",
  agentTurnId: "turn_1",
  turnEpoch: 3,
  stepId: "step_1",
  toolCallId: "tc_1",
  parentStepId: "step_0",
});

describe("queries", () => {
  const requirements: readonly (readonly [string, (context: CGContext) => string, string])[] = [
    ["agent_turn_id", requireTurn, "turn_1"],
    ["tool_call_id", requireToolCall, "tc_1"],
  ];
  test.each(requirements)("[UTP-3-9] a missing %s is a violation that names it", (name, query, expected) => {
    expect(query(full)).toBe(expected);
    expect(() => query(bare)).toThrow(new RegExp(`no ${name}$`));
    expect(() => query(bare)).toThrow(refused);
  });

  test("[UTP-3-10] subjects are in the context's project and channel, and templates take its ids", () => {
    expect(taskEventSubject(full, full.agentId)).toBe("cg.v1r4.demo.u_1.evt.agent.helper.task");
    const template = "cg.v1r4.{project_id}.{channel_id}.cmd.tool.text.{agent_id}";
    expect(expandSubjectTemplate(template, full)).toMatchObject({ channelId: "u_1", suffix: "helper" });
    expect(() => expandSubjectTemplate(template, bare)).toThrow(refused);
  });
});
