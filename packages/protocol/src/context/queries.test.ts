import { describe, expect, test } from "vitest";
import { type CGContext, createContext } from "./context.ts";
import {
  contextSubject,
  matchesHead,
  matchesHeadOrNewer,
  messageSource,
  renderSubjectTemplate,
  requireParentStep,
  requireStep,
  requireToolCall,
  requireTurn,
} from "./queries.ts";

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
    ["step_id", requireStep, "step_1"],
    ["tool_call_id", requireToolCall, "tc_1"],
    ["parent_step_id", requireParentStep, "step_0"],
  ];
  test.each(requirements)("[UTP-3-9] a missing %s is a violation that names it", (name, query, expected) => {
    expect(query(full)).toBe(expected);
    expect(() => query(bare)).toThrow(new RegExp(`no ${name}$`));
    expect(() => query(bare)).toThrow(refused);
  });

  test("[UTP-3-10] subjects are in the context's project and channel", () => {
    const parts = { category: "evt", component: "agent", target: "helper", suffix: "task" } as const;
    expect(contextSubject(full, parts)).toBe("cg.v1r4.demo.u_1.evt.agent.helper.task");
    expect(() => contextSubject(full, { ...parts, target: "a.b" })).toThrow(refused);
  });

  test("[UTP-3-10] templates are filled with the context's ids", () => {
    const template = "cg.v1r4.{project_id}.{channel_id}.cmd.tool.text.{agent_id}";
    expect(renderSubjectTemplate(full, template)).toMatchObject({
      projectId: "demo",
      channelId: "u_1",
      suffix: "helper",
    });
    expect(() => renderSubjectTemplate(bare, template)).toThrow(refused);
  });

  test("[UTP-3-15] the source is the agent, its turn and its step", () => {
    expect(messageSource(full)).toEqual({ agentId: "helper", agentTurnId: "turn_1", stepId: "step_1" });
    expect(messageSource(bare)).toEqual({ agentId: "sys.api", agentTurnId: null, stepId: null });
  });
});

describe("state matching", () => {
  const cases = [
    [{ activeAgentTurnId: "turn_1", turnEpoch: 3 }, true, true],
    [{ activeAgentTurnId: "turn_1", turnEpoch: 4 }, false, true],
    [{ activeAgentTurnId: "turn_1", turnEpoch: 2 }, false, false],
    [{ activeAgentTurnId: "turn_2", turnEpoch: 3 }, false, false],
    [{ activeAgentTurnId: null, turnEpoch: 3 }, false, false],
  ] as const;
  test.each(cases)("[UTP-3-14] head %j: exact %s, same turn or newer %s", (head, exact, newer) => {
    expect(matchesHead(full, head)).toBe(exact);
    expect(matchesHeadOrNewer(full, head)).toBe(newer);
  });

  test("[UTP-3-14] a context outside a turn matches no head", () => {
    for (const activeAgentTurnId of [null, ""]) {
      expect(matchesHead(bare, { activeAgentTurnId, turnEpoch: 0 })).toBe(false);
      expect(matchesHeadOrNewer(bare, { activeAgentTurnId, turnEpoch: 0 })).toBe(false);
    }
  });
});
