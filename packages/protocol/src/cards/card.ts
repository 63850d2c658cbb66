// A card: an immutable record. This is the shape that travels and is hashed; a change is a new card with a new id (I7).
// Reading a card is strict about its shape (unknown keys refused, `metadata` never `meta`), caps its depth and size, and
// yields a fresh tree. Writing one (`parseWritableCard`) also holds it to the conventions of its type.

import { z } from "zod";
import { parseWith } from "../errors/parse-with.ts";
import { violation } from "../errors/toolplane-error.ts";
import { canonicalText } from "../json/canonical-text.ts";
import { copyJson } from "../json/json-copy.ts";
import { jsonObject, jsonObjects } from "../json/json-schemas.ts";
import { isFilled, type JsonCaps } from "../json/json-value.ts";
import { isResultStatus, RESULT_STATUSES } from "../results/value-sets.ts";
import { CARD_CONVENTIONS, CARD_TYPES, isKnownCardType } from "./card-types.ts";
import { contentSchema } from "./content.ts";

const cardSchema = z
  .strictObject({
    card_id: z.string().min(1),
    project_id: z.string().min(1),
    type: z.string().min(1),
    content: contentSchema,
    created_at: z.iso.datetime({ offset: true }),
    author_id: z.string().min(1),
    metadata: jsonObject.default({}),
    tool_calls: jsonObjects.nullable().default(null),
    tool_call_id: z.string().min(1).nullable().default(null),
    ttl_seconds: z.number().int().nonnegative().nullable().default(null),
  })
  .readonly();

export type Card = z.infer<typeof cardSchema>;

/** Any card of the right shape, fresh and frozen at its outer levels. */
export const parseCard = (input: unknown, caps: JsonCaps = {}): Card =>
  parseWith(cardSchema, copyJson(input, caps), "card");

/** Either field may name the call; both must not name different calls. */
const requireCallId = (card: Card): void => {
  const inMetadata = card.metadata.tool_call_id ?? null;
  const callId = card.tool_call_id ?? inMetadata;
  if (!isFilled(callId)) throw violation(`a ${card.type} card needs a tool_call_id`);
  if (inMetadata !== null && inMetadata !== callId) throw violation(`the ${card.type} card names two different calls`);
};

/** The conventions of a type that others rely on; unknown types are free. */
export const checkConventions = (card: Card): void => {
  if (!isKnownCardType(card.type)) return;
  const { contents } = CARD_CONVENTIONS[card.type];
  if (!contents.includes(card.content.__type__)) {
    throw violation(`a ${card.type} card holds ${contents.join(" or ")}, not ${card.content.__type__}`);
  }
  if (card.type === CARD_TYPES.toolCall || card.type === CARD_TYPES.toolResult) requireCallId(card);
  if (card.content.__type__ !== "ToolResultContent") return;
  if (!isFilled(card.metadata.function_name)) throw violation("a tool.result card needs metadata.function_name");
  if (!isResultStatus(card.content.status)) {
    throw violation(`the status of a result is one of ${RESULT_STATUSES.join(", ")}`);
  }
};

export const parseWritableCard = (input: unknown, caps: JsonCaps = {}): Card => {
  const card = parseCard(input, caps);
  checkConventions(card);
  return card;
};

/** The text a card is stored as; absent optional fields are written as null, so both forms are the same card. */
export const cardText = (card: Card, caps: JsonCaps = {}): string =>
  canonicalText(
    {
      author_id: card.author_id,
      card_id: card.card_id,
      content: card.content,
      created_at: card.created_at,
      metadata: card.metadata,
      project_id: card.project_id,
      tool_call_id: card.tool_call_id ?? null,
      tool_calls: card.tool_calls ?? null,
      ttl_seconds: card.ttl_seconds ?? null,
      type: card.type,
    },
    caps,
  );
