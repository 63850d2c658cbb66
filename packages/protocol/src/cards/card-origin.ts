// What every builder of cards needs, and the one place where a card is put together.
// Named metadata wins over `extra`, so a caller's additions can never disguise who made a card or for which call.

import type { JsonObject, JsonValue } from "../json/json-value.ts";
import type { Card } from "./card.ts";
import { CARD_CONVENTIONS, type KnownCardType } from "./card-types.ts";
import type { CardContent } from "./content.ts";

/** Identity and time come from the caller: builders use no clock and no random source. */
export interface CardOrigin {
  readonly cardId: string;
  readonly projectId: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly authorId: string;
  /** Further metadata of the caller's own. */
  readonly extra?: JsonObject | undefined;
}

export interface CardBody {
  readonly content: CardContent;
  readonly metadata?: Readonly<Record<string, JsonValue | undefined>>;
  readonly toolCalls?: readonly JsonObject[] | undefined;
  readonly toolCallId?: string | undefined;
}

const mergeMetadata = (type: KnownCardType, origin: CardOrigin, named: CardBody["metadata"]): JsonObject => {
  const metadata: Record<string, JsonValue> = { ...origin.extra };
  for (const [key, value] of Object.entries(named ?? {})) {
    if (value !== undefined) metadata[key] = value;
  }
  const { role } = CARD_CONVENTIONS[type];
  if (role !== undefined) metadata.role = role;
  return Object.freeze(metadata);
};

export const createCard = (type: KnownCardType, origin: CardOrigin, body: CardBody): Card =>
  Object.freeze({
    card_id: origin.cardId,
    project_id: origin.projectId,
    type,
    content: body.content,
    created_at: origin.createdAt,
    author_id: origin.authorId,
    metadata: mergeMetadata(type, origin, body.metadata),
    tool_calls: body.toolCalls === undefined || body.toolCalls.length === 0 ? null : body.toolCalls,
    tool_call_id: body.toolCallId ?? null,
    ttl_seconds: null,
  });
