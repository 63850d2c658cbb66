// Reads a result through its pointer, as a worker, the project tools and a user interface do. Every way this can go wrong
// has a name; nothing is thrown.

import { type Card, parseCard } from "../cards/card.ts";
import { CARD_TYPES } from "../cards/card-types.ts";
import { isFilled, isRecord, type JsonValue } from "../json/json-value.ts";
import { effectiveAfterExecution } from "./after-execution.ts";
import { type AfterExecution, coerceStatus, type ResultStatus } from "./value-sets.ts";

/** What the store answered. */
export type CardLookup =
  | { readonly kind: "found"; readonly card: unknown }
  | { readonly kind: "missing" }
  | { readonly kind: "failed" };

export type ReadFault =
  | "missing_card_id"
  | "card_fetch_failed"
  | "card_not_found"
  | "invalid_card_type"
  | "tool_call_id_mismatch"
  | "protocol_violation";

export type ReadOutcome =
  | { readonly ok: false; readonly fault: ReadFault; readonly card?: unknown }
  | {
      readonly ok: true;
      readonly card: Card;
      readonly status: ResultStatus;
      /** The effective value: an override in the result has been applied. */
      readonly afterExecution: AfterExecution;
      readonly result: JsonValue;
      readonly error: JsonValue;
    };

const callIdOf = (card: Record<string, unknown>): unknown => {
  if (isFilled(card.tool_call_id)) return card.tool_call_id;
  return isRecord(card.metadata) ? card.metadata.tool_call_id : undefined;
};

const tryParseCard = (input: unknown): Card | undefined => {
  try {
    return parseCard(input);
  } catch {
    return undefined;
  }
};

const readFound = (found: unknown, toolCallId: string): ReadOutcome => {
  if (!isRecord(found)) return { ok: false, fault: "protocol_violation", card: found };
  if (found.type !== CARD_TYPES.toolResult) return { ok: false, fault: "invalid_card_type", card: found };
  if (callIdOf(found) !== toolCallId) return { ok: false, fault: "tool_call_id_mismatch", card: found };
  const card = tryParseCard(found);
  if (card === undefined || card.content.__type__ !== "ToolResultContent") {
    return { ok: false, fault: "protocol_violation", card: found };
  }
  const { content } = card;
  return {
    ok: true,
    card,
    status: coerceStatus(content.status),
    afterExecution: effectiveAfterExecution(content),
    result: content.result,
    error: content.error,
  };
};

export const readResult = (cardId: unknown, lookup: CardLookup, toolCallId: string): ReadOutcome => {
  if (!isFilled(cardId)) return { ok: false, fault: "missing_card_id" };
  switch (lookup.kind) {
    case "failed":
      return { ok: false, fault: "card_fetch_failed" };
    case "missing":
      return { ok: false, fault: "card_not_found" };
    case "found":
      return readFound(lookup.card, toolCallId);
  }
};
