// A command that cannot be accepted still needs an answer, or its caller waits in vain. The receiver of the answer is read from
// the headers, else from the tool.call card that the payload points to; never from payload fields.

import type { Card } from "../cards/card.ts";
import { CARD_TYPES } from "../cards/card-types.ts";
import { isFilled, isRecord, type JsonObject } from "../json/json-value.ts";
import { type BuiltResult, buildFailure, type ResultContext } from "./result-builder.ts";

export interface FailureIdentity {
  readonly agentTurnId: string;
  readonly toolCallId: string;
}

export interface ValidationFailureInput {
  /** What the headers said, as far as they could be read. */
  readonly header: Partial<FailureIdentity>;
  /** The card named by the payload, if there is one in this project. */
  readonly card?: Card | undefined;
  readonly payload: unknown;
  readonly error: unknown;
  /** The service's own name for itself, used when the payload names no tool. */
  readonly defaultFunctionName: string;
  readonly context: Pick<ResultContext, "cardId" | "createdAt" | "projectId" | "authorId" | "source" | "caps">;
}

export const planFailureIdentity = (
  header: Partial<FailureIdentity>,
  card: Card | undefined,
): FailureIdentity | undefined => {
  const call = card?.type === CARD_TYPES.toolCall ? card : undefined;
  const toolCallId = [header.toolCallId, call?.tool_call_id, call?.metadata.tool_call_id].find(isFilled);
  const agentTurnId = [header.agentTurnId, call?.metadata.agent_turn_id].find(isFilled);
  return toolCallId === undefined || agentTurnId === undefined ? undefined : { agentTurnId, toolCallId };
};

const lineageOf = (card: Card | undefined): JsonObject | undefined =>
  card?.type === CARD_TYPES.toolCall ? card.metadata : undefined;

/** A result that names another function than the call's tool is refused, so the card's name is used before the default. */
const toolNameOf = (card: Card | undefined): string | undefined =>
  card?.type === CARD_TYPES.toolCall && card.content.__type__ === "ToolCallContent"
    ? card.content.tool_name
    : undefined;

/** The failed result to save and report, or undefined when no receiver is known. */
export const buildValidationFailure = (input: ValidationFailureInput): BuiltResult | undefined => {
  const identity = planFailureIdentity(input.header, input.card);
  if (identity === undefined) return undefined;
  const payload = isRecord(input.payload) ? input.payload : {};
  return buildFailure(
    {
      ...input.context,
      ...identity,
      toolName: [payload.tool_name, toolNameOf(input.card)].find(isFilled) ?? input.defaultFunctionName,
      afterExecution: payload.after_execution,
      toolCallMetadata: lineageOf(input.card),
    },
    input.error,
  );
};
