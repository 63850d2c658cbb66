// From a pointer to a call: the tool.call card is read and compared with the command. Arguments come from the card
// alone; step, trace and parent step are the card's own.

import {
  CARD_TYPES,
  type Card,
  type CGContext,
  type CommandPayload,
  isFilled,
  isRecord,
  type JsonObject,
  parseCardDto,
  ToolplaneError,
  violation,
  withLineageMeta,
} from "@toolplane/protocol";

export interface HydratedCall {
  readonly card: Card;
  readonly arguments: JsonObject;
  readonly context: CGContext;
}

export interface HydrationInput {
  /** What the gateway gave; undefined when there is no such card in this project. */
  readonly found: unknown;
  readonly context: CGContext;
  readonly payload: CommandPayload;
  readonly toolCallId: string;
}

/** The lineage of a card that is wrong in another way, so that even its refusal belongs to the right trace. */
export const recoverMetadata = (found: unknown): JsonObject | undefined =>
  isRecord(found) && found.type === CARD_TYPES.toolCall && isRecord(found.metadata)
    ? (found.metadata as JsonObject)
    : undefined;

const parseCallCard = (found: unknown): Card => {
  try {
    return parseCardDto(found);
  } catch (error) {
    const why = error instanceof ToolplaneError ? `: ${error.message}` : "";
    throw violation(`the tool.call card cannot be read${why}`);
  }
};

const checkPointer = (card: Card, { context, payload, toolCallId }: HydrationInput): void => {
  if (card.project_id !== context.projectId || card.card_id !== payload.tool_call_card_id) {
    throw violation("the card is not the one the command points to");
  }
  const callId = card.tool_call_id ?? card.metadata.tool_call_id;
  if (isFilled(callId) && callId !== toolCallId) throw violation("the card belongs to another call than the headers");
};

export const hydrate = (input: HydrationInput): HydratedCall => {
  const { found, context, payload } = input;
  if (found === undefined) {
    throw new ToolplaneError("not_found", `there is no card ${payload.tool_call_card_id} in this project`);
  }
  if (isRecord(found) && found.type !== CARD_TYPES.toolCall) {
    throw violation("the command does not point to a tool.call card");
  }
  const card = parseCallCard(found);
  checkPointer(card, input);
  if (card.content.__type__ !== "ToolCallContent") throw violation("the tool.call card holds no tool call");
  if (card.content.tool_name !== payload.tool_name) throw violation("the card calls another tool than the command");
  return { card, arguments: card.content.arguments, context: withLineageMeta(context, card.metadata) };
};
