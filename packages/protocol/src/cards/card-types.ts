// The card types that the protocol knows, what each may hold and which role it has for a model. Other types may exist: the type
// is an open word, and only these have a fixed meaning.

import type { ContentType } from "./content.ts";

export const CARD_TYPES = {
  taskInstruction: "task.instruction",
  taskResultFields: "task.result_fields",
  taskContext: "task.context",
  taskDeliverable: "task.deliverable",
  agentThought: "agent.thought",
  agentError: "agent.error",
  toolCall: "tool.call",
  toolResult: "tool.result",
  sysProfile: "sys.profile",
  sysRenderedPrompt: "sys.rendered_prompt",
  sysTools: "sys.tools",
  sysMustEndWithRequired: "sys.must_end_with_required",
  sysJudgeFeedback: "sys.judge_feedback",
  metaParentPointer: "meta.parent_pointer",
} as const;

export type KnownCardType = (typeof CARD_TYPES)[keyof typeof CARD_TYPES];

/** Authors that are fixed words rather than an agent or a tool. */
export const CARD_AUTHORS = {
  pmo: "sys.pmo",
  batchManager: "sys.pmo.batch_manager",
  watchdog: "worker.watchdog",
  stopHandler: "system_pmo",
  assembler: "system_assembler",
  api: "api",
  judge: "sys.judge",
} as const;

export interface CardConvention {
  readonly contents: readonly ContentType[];
  /** `metadata.role`; absent where a model never sees the card as a message of its own. */
  readonly role?: "user" | "assistant" | "system" | "tool";
}

export const CARD_CONVENTIONS: Readonly<Record<KnownCardType, CardConvention>> = {
  "task.instruction": { contents: ["TextContent"], role: "user" },
  "task.result_fields": { contents: ["FieldsSchemaContent"], role: "user" },
  "task.context": { contents: ["TextContent"], role: "user" },
  "task.deliverable": { contents: ["TextContent", "JsonContent"], role: "assistant" },
  "agent.thought": { contents: ["TextContent"], role: "assistant" },
  "agent.error": { contents: ["JsonContent"], role: "system" },
  "tool.call": { contents: ["ToolCallContent"] },
  "tool.result": { contents: ["ToolResultContent"], role: "tool" },
  "sys.profile": { contents: ["JsonContent"] },
  "sys.rendered_prompt": { contents: ["TextContent"], role: "system" },
  "sys.tools": { contents: ["ToolContent"], role: "system" },
  "sys.must_end_with_required": { contents: ["TextContent"], role: "system" },
  "sys.judge_feedback": { contents: ["JsonContent"], role: "system" },
  "meta.parent_pointer": { contents: ["JsonContent"], role: "system" },
};

export const isKnownCardType = (type: string): type is KnownCardType => Object.hasOwn(CARD_CONVENTIONS, type);
