// A card as the API shows it, and as a tool service gets it: the latter with the kind of its content, as it is stored.

import { z } from "zod";
import { anyObject, type BodyOf, text, textOrNull, time } from "../http/answers.ts";

const cardFields = {
  card_id: text,
  project_id: text,
  type: text,
  content: anyObject,
  created_at: time,
  author_id: text,
  metadata: anyObject,
  tool_calls: z.array(anyObject).nullable(),
  tool_call_id: textOrNull,
  ttl_seconds: z.int().nullable(),
};

export const cardBody = z.strictObject(cardFields).meta({ id: "Card" });

export const storedCardBody = z
  .strictObject({ ...cardFields, content: z.looseObject({ __type__: text }) })
  .meta({ id: "StoredCard" });

export type StoredCard = BodyOf<typeof storedCardBody>;

/** A piece of a large card: its content's JSON as text, from a character on. */
export const cardPieceBody = z
  .strictObject({
    card_id: text,
    type: text,
    text,
    offset: z.int(),
    total: z.int().meta({ description: "The characters of the whole text." }),
    next_offset: z.int().nullable().meta({ description: "Where the next piece begins; null after the last." }),
  })
  .meta({ id: "CardPiece" });

export const DEFAULT_PIECE = 64 * 1024;
export const MAX_PIECE = 1024 * 1024;

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

/** Pure. A character of two units is never cut in the middle, so a piece may be one longer than asked. */
export const planCardPiece = (
  card: Pick<BodyOf<typeof cardBody>, "card_id" | "type" | "content">,
  offset: number,
  length: number,
): BodyOf<typeof cardPieceBody> => {
  const whole = JSON.stringify(card.content);
  const wanted = Math.min(offset + length, whole.length);
  const end = wanted < whole.length && isLowSurrogate(whole.charCodeAt(wanted)) ? wanted + 1 : wanted;
  return {
    card_id: card.card_id,
    type: card.type,
    text: whole.slice(offset, end),
    offset,
    total: whole.length,
    next_offset: end < whole.length ? end : null,
  };
};
