// From a card to its row: checks shape and conventions, applies caps, makes canonical text and hash.

import {
  CARD_TYPES,
  type Card,
  cardText,
  type ErrorCode,
  type HashText,
  isRecord,
  isToolplaneError,
  type JsonCaps,
  type JsonObject,
  parseWritableCard,
  ToolplaneError,
  violation,
} from "@toolplane/protocol";
import type { CardRow } from "./cards.sql.ts";

/** A larger result belongs into a file, with a pointer in the card: cards are read into prompts and lists. */
export const CARD_CAPS = { maxBytes: 1024 * 1024, maxDepth: 64 } as const satisfies JsonCaps;

/** Ids travel in headers and logs. */
const MAX_CARD_ID_LENGTH = 128;

export interface PrepareCardOptions {
  readonly projectId: string;
  readonly sha256: HashText;
}

/** The same caps mean "your result" to a tool and "your request" to other callers. */
const REQUEST_CODES: Partial<Record<ErrorCode, ErrorCode>> = {
  result_too_large: "payload_too_large",
  result_not_serializable: "bad_request",
};

const isResult = (input: unknown): boolean => isRecord(input) && input.type === CARD_TYPES.toolResult;

const capped = <T>(input: unknown, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    if (!isToolplaneError(error) || isResult(input)) throw error;
    const code = REQUEST_CODES[error.code];
    if (code === undefined) throw error;
    throw new ToolplaneError(code, `card: ${error.message}`, { detail: error.detail, cause: error });
  }
};

const text = (metadata: JsonObject, key: string): string | null => {
  const value = metadata[key];
  return typeof value === "string" && value !== "" ? value : null;
};

const isPlainId = (id: string): boolean => {
  for (let i = 0; i < id.length; i++) {
    const unit = id.charCodeAt(i);
    if (unit <= 32 || unit >= 127) return false;
  }
  return id.length <= MAX_CARD_ID_LENGTH;
};

const checkIdentity = (card: Card, projectId: string): void => {
  if (card.project_id !== projectId) throw violation("a card is written into the project it names");
  if (!isPlainId(card.card_id))
    throw violation(`a card_id is at most ${MAX_CARD_ID_LENGTH} visible ASCII characters`, { path: "$.card_id" });
};

export const prepareCard = (input: unknown, options: PrepareCardOptions): CardRow => {
  const { projectId, sha256 } = options;
  const card = capped(input, () => parseWritableCard(input, CARD_CAPS));
  checkIdentity(card, projectId);
  const body = capped(input, () => cardText(card, CARD_CAPS));
  return {
    projectId,
    cardId: card.card_id,
    type: card.type,
    authorId: card.author_id,
    toolCallId: card.tool_call_id,
    agentTurnId: text(card.metadata, "agent_turn_id"),
    stepId: text(card.metadata, "step_id"),
    hash: sha256(body),
    body,
    ttlSeconds: card.ttl_seconds,
  };
};
