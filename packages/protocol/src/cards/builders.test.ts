import { describe, expect, test } from "vitest";
import { type Card, parseCard, parseWritableCard } from "./card.ts";
import { createCard } from "./card-origin.ts";
import { CARD_AUTHORS, CARD_CONVENTIONS, CARD_TYPES } from "./card-types.ts";
import { jsonContent, textContent } from "./content.ts";
import { createFallbackDeliverable, FALLBACK_SOURCES, terminatedReason } from "./fallback-deliverable.ts";
import { copyLineage, lineageDifference } from "./lineage.ts";
import { createMustEndWithCard, createProfileCard, createRenderedPromptCard, createToolsCard } from "./system-cards.ts";
import {
  createAgentErrorCard,
  createDeliverableCard,
  createInstructionCard,
  createParentPointerCard,
  createResultFieldsCard,
  createThoughtCard,
} from "./task-cards.ts";
import { createToolCallCard, createToolResultCard } from "./tool-cards.ts";

const origin = { cardId: "c1", projectId: "demo", createdAt: "2026-01-02T03:04:05.000Z", authorId: "helper" };
const system = { cardId: "c1", projectId: "demo", createdAt: origin.createdAt };
const lineage = { step_id: "step_1", trace_id: "0af7651916cd43dd8448eb211c80319c", parent_step_id: "step_0" };
const turn = { agentTurnId: "turn_1", lineage };
const success = {
  __type__: "ToolResultContent",
  status: "success",
  after_execution: "suspend",
  result: 1,
  error: null,
} as const;

const built: Readonly<Record<string, Card>> = {
  "task.instruction": createInstructionCard({ ...origin, text: "do" }),
  "task.result_fields": createResultFieldsCard({ ...origin, fields: [{ name: " a " }] }),
  "task.context": createCard(CARD_TYPES.taskContext, origin, { content: textContent("know") }),
  "agent.thought": createThoughtCard({
    ...origin,
    ...turn,
    text: "",
    toolCalls: [{ id: "x" }],
    reasoningContent: "why",
  }),
  "tool.call": createToolCallCard({ ...origin, ...turn, toolCallId: "tc_1", toolName: "t", arguments: { a: 1 } }),
  "tool.result": createToolResultCard({ ...origin, ...turn, toolCallId: "tc_1", functionName: "t", content: success }),
  "task.deliverable": createDeliverableCard({ ...origin, ...turn, body: "done" }),
  "agent.error": createAgentErrorCard({ ...origin, error: "stopped" }),
  "sys.profile": createProfileCard({ ...system, profile: { name: "p" }, name: "p", workerTarget: "w", tags: ["x"] }),
  "sys.rendered_prompt": createRenderedPromptCard({ ...system, text: "you are", profileId: "b1" }),
  "sys.tools": createToolsCard({ ...system, tools: [] }),
  "sys.must_end_with_required": createMustEndWithCard({ ...origin, text: "end", lineage }),
  "sys.judge_feedback": createCard(
    CARD_TYPES.sysJudgeFeedback,
    { ...origin, authorId: CARD_AUTHORS.judge },
    { content: jsonContent({ hint: "x" }), metadata: { tool_call_id: "tc_1" } },
  ),
  "meta.parent_pointer": createParentPointerCard({ ...origin, parentAgentId: "boss" }),
};

describe("builders", () => {
  test("[UTP-4.3-C5] every card type with a fixed meaning can be built", () => {
    expect(Object.keys(built).sort()).toEqual(Object.values(CARD_TYPES).sort());
  });

  test.each(Object.entries(built))("[UTP-4.3-C6] %s is a writable card of its type with its role", (type, card) => {
    expect(parseWritableCard(card)).toEqual(card);
    expect(card.type).toBe(type);
    expect(card.metadata.role).toBe(CARD_CONVENTIONS[type as keyof typeof CARD_CONVENTIONS].role);
    expect(Object.isFrozen(card)).toBe(true);
  });

  test("[UTP-4.3-C7] tool.call metadata", () => {
    const card = createToolCallCard({
      ...origin,
      ...turn,
      toolCallId: "tc_1",
      toolName: "t",
      arguments: {},
      targetSubject: "cg.v1r4.demo.public.cmd.tool.text.t",
      argsDefaultsApplied: ["b", "a"],
      argsFixedApplied: ["z"],
      argsEnvs: { key: "API_KEY" },
      contextBoxId: "box",
      toolVersion: 3,
      definitionHash: "ff",
      providerToolCallId: "call_0",
    });
    expect(card.tool_call_id).toBe("tc_1");
    expect(card.content).toMatchObject({ status: "called", target_subject: "cg.v1r4.demo.public.cmd.tool.text.t" });
    expect(card.metadata).toEqual({
      ...lineage,
      agent_turn_id: "turn_1",
      tool_call_id: "tc_1",
      tool_args_defaults_applied: ["a", "b"],
      tool_args_fixed_applied: ["z"],
      tool_args_envs: { key: "API_KEY" },
      context_box_id: "box",
      tool_version: 3,
      definition_hash: "ff",
      provider_tool_call_id: "call_0",
    });
  });

  test("[UTP-4.3-C8] tool.result metadata carries role, turn, call, function and the call's lineage", () => {
    expect(built["tool.result"]?.metadata).toEqual({
      ...lineage,
      role: "tool",
      agent_turn_id: "turn_1",
      tool_call_id: "tc_1",
      function_name: "t",
    });
  });

  test("[UTP-4.3-C9] a caller's own metadata cannot disguise the named keys", () => {
    const extra = { tool_call_id: "other", role: "system", mine: 1 };
    const card = createToolResultCard({
      ...origin,
      ...turn,
      toolCallId: "tc_1",
      functionName: "t",
      content: success,
      extra,
    });
    expect(card.metadata).toMatchObject({ tool_call_id: "tc_1", role: "tool", mine: 1 });
  });

  test("[UTP-4.3-C10] fixed authors", () => {
    const authors = ["sys.profile", "sys.rendered_prompt", "sys.judge_feedback"].map((type) => built[type]?.author_id);
    expect(authors).toEqual(["api", "system_assembler", "sys.judge"]);
  });

  test("[UTP-4.3-C11] a deliverable is Text or Json and says why it is partial", () => {
    const card = createDeliverableCard({
      ...origin,
      ...turn,
      body: { a: 1 },
      stepId: "step_9",
      partial: true,
      terminalReason: "max_steps_reached",
      stopReason: "stopped",
      terminatedByTool: true,
    });
    expect(card.content).toEqual({ __type__: "JsonContent", data: { a: 1 } });
    expect(card.metadata).toEqual({
      ...lineage,
      step_id: "step_9",
      role: "assistant",
      agent_turn_id: "turn_1",
      partial: true,
      terminal_reason: "max_steps_reached",
      stop_reason: "stopped",
      terminated_by_tool: true,
    });
  });

  test("[UTP-4.3-C12] an agent.error says that it failed", () => {
    expect(built["agent.error"]?.content).toEqual({
      __type__: "JsonContent",
      data: { error: "stopped", status: "failed" },
    });
  });

  test("a thought without calls has none", () => {
    expect(createThoughtCard({ ...origin, agentTurnId: "t", text: "x", toolCalls: [] }).tool_calls).toBeNull();
  });
});

describe("lineage", () => {
  test("[UTP-D10-C1] exactly the three keys are copied, verbatim, those that are there", () => {
    expect(copyLineage({ step_id: " s ", trace_id: "T", other: 1 })).toEqual({ step_id: " s ", trace_id: "T" });
    expect(copyLineage(undefined)).toEqual({});
  });
  test("differences are named; absent and null are the same", () => {
    expect(lineageDifference({ step_id: "a", parent_step_id: null }, { step_id: "a" })).toBeUndefined();
    expect(lineageDifference({ step_id: "a" }, { step_id: "b" })).toBe("step_id");
    expect(lineageDifference({}, { trace_id: "t" })).toBe("trace_id");
  });
});

describe("fallback deliverable", () => {
  const input = {
    source: FALLBACK_SOURCES.terminated,
    partial: true,
    message: "turn terminated by tool",
    summary: "s",
    output: "o",
    reason: terminatedReason("failed"),
    toolResultCount: 2,
    lastAgentThought: null,
  } as const;

  test("[UTP-10.6-C1] its shape", () => {
    expect(
      createFallbackDeliverable({
        ...input,
        terminalStatus: "t",
        taskStatus: "failed",
      }),
    ).toEqual({
      schema_version: 1,
      kind: "fallback_deliverable",
      status: "partial",
      partial: true,
      message: "turn terminated by tool",
      fields: [
        { name: "summary", value: "s" },
        { name: "output", value: "o" },
        { name: "reason", value: "tool_terminated:failed" },
      ],
      diagnostics: {
        source: "agent_worker.resume_effects.ensure_terminated_deliverable",
        tool_result_count: 2,
        last_agent_thought: null,
        partial: true,
        terminal_status: "t",
        task_status: "failed",
      },
    });
  });

  test("[UTP-10.6-C2] a turn that succeeded has a fallback with status success and only the diagnostics it knows", () => {
    const data = createFallbackDeliverable({ ...input, partial: false });
    expect(data.status).toBe("success");
    expect(Object.keys(data.diagnostics as object)).toEqual([
      "source",
      "tool_result_count",
      "last_agent_thought",
      "partial",
    ]);
    const card = createDeliverableCard({ ...origin, ...turn, body: data });
    expect(parseCard(card)).toEqual(card);
  });
});
