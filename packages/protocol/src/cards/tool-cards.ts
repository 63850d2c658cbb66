// The two cards of a call: the request (tool.call) and its outcome (tool.result).

import type { JsonObject } from "../json/json-value.ts";
import type { Card } from "./card.ts";
import { type CardOrigin, createCard } from "./card-origin.ts";
import { CARD_TYPES } from "./card-types.ts";
import type { ToolResultContent } from "./content.ts";
import { copyLineage, type Lineage } from "./lineage.ts";

export interface ToolCallCardInput extends CardOrigin {
  readonly agentTurnId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly arguments: JsonObject;
  readonly targetSubject?: string | null | undefined;
  readonly lineage?: Lineage | undefined;
  readonly argsDefaultsApplied?: readonly string[] | undefined;
  readonly argsFixedApplied?: readonly string[] | undefined;
  /** Parameter name to environment variable name; the values are known to the executor alone (I8). */
  readonly argsEnvs?: Readonly<Record<string, string>> | undefined;
  readonly contextBoxId?: string | undefined;
  /** The definition the call was checked against. */
  readonly toolVersion?: number | undefined;
  readonly definitionHash?: string | undefined;
  /** The id a model gave. Ours is a new one, because models repeat theirs. */
  readonly providerToolCallId?: string | undefined;
}

const sorted = (names: readonly string[] | undefined): readonly string[] | undefined =>
  names === undefined || names.length === 0 ? undefined : [...names].sort();

export const createToolCallCard = (input: ToolCallCardInput): Card =>
  createCard(CARD_TYPES.toolCall, input, {
    content: Object.freeze({
      __type__: "ToolCallContent",
      tool_name: input.toolName,
      arguments: input.arguments,
      status: "called",
      target_subject: input.targetSubject ?? null,
    }),
    toolCallId: input.toolCallId,
    metadata: {
      ...copyLineage(input.lineage as JsonObject | undefined),
      agent_turn_id: input.agentTurnId,
      tool_call_id: input.toolCallId,
      tool_args_defaults_applied: sorted(input.argsDefaultsApplied),
      tool_args_fixed_applied: sorted(input.argsFixedApplied),
      tool_args_envs: input.argsEnvs,
      context_box_id: input.contextBoxId,
      tool_version: input.toolVersion,
      definition_hash: input.definitionHash,
      provider_tool_call_id: input.providerToolCallId,
    },
  });

export interface ToolResultCardInput extends CardOrigin {
  readonly agentTurnId: string;
  readonly toolCallId: string;
  readonly functionName: string;
  readonly content: ToolResultContent;
  /** The tool.call card's metadata, or the lineage taken from it. */
  readonly lineage?: Lineage | JsonObject | undefined;
  /** The definition the code ran under. */
  readonly definitionHash?: string | undefined;
}

export const createToolResultCard = (input: ToolResultCardInput): Card =>
  createCard(CARD_TYPES.toolResult, input, {
    content: input.content,
    toolCallId: input.toolCallId,
    metadata: {
      ...copyLineage(input.lineage as JsonObject | undefined),
      agent_turn_id: input.agentTurnId,
      tool_call_id: input.toolCallId,
      function_name: input.functionName,
      definition_hash: input.definitionHash,
    },
  });
