// The cards of a task: the instruction, the thoughts, the deliverable.

import type { JsonObject, JsonValue } from "../json/json-value.ts";
import type { Card } from "./card.ts";
import { type CardOrigin, createCard } from "./card-origin.ts";
import { CARD_TYPES } from "./card-types.ts";
import { type JsonContent, jsonContent, type TextContent, textContent } from "./content.ts";
import { copyLineage, type Lineage } from "./lineage.ts";

export const createInstructionCard = (input: CardOrigin & { readonly text: string }): Card =>
  createCard(CARD_TYPES.taskInstruction, input, { content: textContent(input.text) });

export interface ResultField {
  readonly name: string;
  readonly description?: string | undefined;
}

export const createResultFieldsCard = (input: CardOrigin & { readonly fields: readonly ResultField[] }): Card =>
  createCard(CARD_TYPES.taskResultFields, input, {
    content: Object.freeze({
      __type__: "FieldsSchemaContent",
      fields: input.fields.map(({ name, description }) => ({
        name: name.trim(),
        description: (description ?? "").trim(),
      })),
    }),
  });

export interface ThoughtCardInput extends CardOrigin {
  readonly agentTurnId: string;
  readonly text: string;
  readonly toolCalls?: readonly JsonObject[] | undefined;
  readonly reasoningContent?: string | undefined;
  readonly lineage?: Lineage | undefined;
}

export const createThoughtCard = (input: ThoughtCardInput): Card =>
  createCard(CARD_TYPES.agentThought, input, {
    content: textContent(input.text),
    toolCalls: input.toolCalls,
    metadata: {
      ...copyLineage(input.lineage as JsonObject | undefined),
      agent_turn_id: input.agentTurnId,
      reasoning_content: input.reasoningContent,
    },
  });

export interface DeliverableCardInput extends CardOrigin {
  readonly agentTurnId: string;
  /** A text becomes TextContent, a document JsonContent. */
  readonly body: string | JsonObject | readonly JsonValue[];
  readonly stepId?: string | undefined;
  readonly lineage?: Lineage | undefined;
  readonly partial?: boolean | undefined;
  readonly terminalReason?: string | undefined;
  readonly stopReason?: string | undefined;
  readonly terminatedByTool?: boolean | undefined;
}

const bodyContent = (body: DeliverableCardInput["body"]): TextContent | JsonContent =>
  typeof body === "string" ? textContent(body) : jsonContent(body);

export const createDeliverableCard = (input: DeliverableCardInput): Card =>
  createCard(CARD_TYPES.taskDeliverable, input, {
    content: bodyContent(input.body),
    metadata: {
      ...copyLineage(input.lineage as JsonObject | undefined),
      ...(input.stepId === undefined ? {} : { step_id: input.stepId }),
      agent_turn_id: input.agentTurnId,
      partial: input.partial,
      terminal_reason: input.terminalReason,
      stop_reason: input.stopReason,
      terminated_by_tool: input.terminatedByTool,
    },
  });

export const createAgentErrorCard = (input: CardOrigin & { readonly error: JsonValue }): Card =>
  createCard(CARD_TYPES.agentError, input, { content: jsonContent({ error: input.error, status: "failed" }) });

export const createParentPointerCard = (input: CardOrigin & { readonly parentAgentId: string }): Card =>
  createCard(CARD_TYPES.metaParentPointer, input, { content: jsonContent({ parent_agent_id: input.parentAgentId }) });
