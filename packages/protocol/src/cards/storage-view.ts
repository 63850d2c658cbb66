// The storage view of a card: a few columns, with the domain fields folded into the metadata document.
// Folding and unfolding lose nothing, except that a metadata key named like a folded field gives way to it.

import { isFilled, isRecord, type JsonObject, type JsonValue } from "../json/json-value.ts";
import { type Card, parseCard } from "./card.ts";
import type { CardContent } from "./content.ts";

export interface StoredCard {
  readonly card_id: string;
  readonly tenant_id: string;
  readonly content: CardContent;
  readonly tool_calls: readonly JsonObject[] | null;
  readonly tool_call_id: string | null;
  readonly ttl_seconds: number | null;
  readonly expires_at: string | null;
  readonly deleted_at: string | null;
  readonly metadata: JsonObject;
  readonly created_at: string;
}

/** What unfolding needs of a row that somebody else may have written. */
export interface StoredCardRow {
  readonly card_id: string;
  readonly content: unknown;
  readonly tool_calls?: unknown;
  readonly tool_call_id?: string | null;
  readonly ttl_seconds?: number | null;
  readonly metadata?: unknown;
}

const FOLDED = ["project_id", "type", "author_id", "created_at"] as const;

/** The last instant a date can name; a card that is to live longer does not expire. */
const LAST_INSTANT_MS = 8.64e15;

const expiresAt = (createdAt: string, ttlSeconds: number | null): string | null => {
  const expiry = ttlSeconds === null ? Number.POSITIVE_INFINITY : Date.parse(createdAt) + ttlSeconds * 1000;
  return expiry <= LAST_INSTANT_MS ? new Date(expiry).toISOString() : null;
};

export const foldCard = (card: Card): StoredCard => ({
  card_id: card.card_id,
  tenant_id: card.project_id,
  content: card.content,
  tool_calls: card.tool_calls,
  tool_call_id: card.tool_call_id,
  ttl_seconds: card.ttl_seconds,
  expires_at: expiresAt(card.created_at, card.ttl_seconds),
  deleted_at: null,
  metadata: {
    ...card.metadata,
    project_id: card.project_id,
    type: card.type,
    author_id: card.author_id,
    created_at: card.created_at,
  },
  created_at: card.created_at,
});

const producerId = (metadata: Record<string, unknown>): unknown =>
  isRecord(metadata.producer) ? metadata.producer.id : undefined;

const firstFilled = (...candidates: readonly unknown[]): string => candidates.find(isFilled) ?? "unknown";

const withoutFolded = (metadata: Record<string, unknown>): Record<string, JsonValue> => {
  const rest = { ...metadata } as Record<string, JsonValue>;
  for (const key of FOLDED) delete rest[key];
  return rest;
};

/** Reads a row back; `tenantId` is the project that asked, and the only one the card can belong to. */
export const unfoldCard = (row: StoredCardRow, tenantId: string, now: string): Card => {
  const metadata = isRecord(row.metadata) ? row.metadata : {};
  return parseCard({
    card_id: row.card_id,
    project_id: tenantId,
    type: firstFilled(metadata.type, metadata.semantic_type),
    content: row.content,
    created_at: firstFilled(metadata.created_at, metadata.timestamp, now),
    author_id: firstFilled(metadata.author_id, producerId(metadata)),
    metadata: withoutFolded(metadata),
    tool_calls: row.tool_calls ?? null,
    tool_call_id: row.tool_call_id ?? null,
    ttl_seconds: row.ttl_seconds ?? null,
  });
};
