// The deliverable of a turn that ended without writing one. Every finished turn has exactly one (I10), so a reader always finds
// the same shape, and learns why it is a substitute.

import type { JsonObject, JsonValue } from "../json/json-value.ts";
import type { ResultStatus } from "../results/value-sets.ts";

export const FALLBACK_SOURCES = {
  terminal: "agent_worker.react_step.ensure_terminal_deliverable",
  partial: "agent_worker.react_step.append_partial_deliverable",
  terminated: "agent_worker.resume_effects.ensure_terminated_deliverable",
  stop: "agent_worker.stop_handler",
  watchdog: "pmo.l0_guard.watchdog",
} as const;

export type FallbackSource = (typeof FALLBACK_SOURCES)[keyof typeof FALLBACK_SOURCES];

export interface FallbackInput {
  readonly source: FallbackSource;
  /** False only when the turn succeeded and left its deliverable to the plane. */
  readonly partial: boolean;
  readonly message: string;
  readonly summary: string;
  readonly output: string;
  readonly reason: string;
  readonly toolResultCount: number;
  readonly lastAgentThought: string | null;
  readonly terminalStatus?: string | undefined;
  readonly taskStatus?: string | undefined;
}

const diagnosticsOf = (input: FallbackInput): JsonObject => {
  const diagnostics: Record<string, JsonValue> = {
    source: input.source,
    tool_result_count: input.toolResultCount,
    last_agent_thought: input.lastAgentThought,
    partial: input.partial,
  };
  if (input.terminalStatus !== undefined) diagnostics.terminal_status = input.terminalStatus;
  if (input.taskStatus !== undefined) diagnostics.task_status = input.taskStatus;
  return diagnostics;
};

/** The data of a fallback deliverable; wrap it with `createDeliverableCard`. */
export const createFallbackDeliverable = (input: FallbackInput): JsonObject => ({
  schema_version: 1,
  kind: "fallback_deliverable",
  status: input.partial ? "partial" : "success",
  partial: input.partial,
  message: input.message,
  fields: [
    { name: "summary", value: input.summary },
    { name: "output", value: input.output },
    { name: "reason", value: input.reason },
  ],
  diagnostics: diagnosticsOf(input),
});

export const TERMINATED_HEADLINE = "turn terminated by tool";

/** Why a turn that a tool ended has no deliverable of its own. */
export const terminatedReason = (status: ResultStatus): string => `tool_terminated:${status}`;
