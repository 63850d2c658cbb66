// What stays in memory of a long card: what a transcript shows of it. A step reads up to a thousand cards of a megabyte each; with
// them whole a few turns took the memory of the process, and the text of each was made again at every step.
//   LX1. A result is kept as the two ends of its text; a call without its arguments, which no transcript shows.
//   LX2. Another long card (a thought, an instruction, a document) is kept whole while all of them have some megabytes together,
//        newest first. Older ones would not fit into a transcript, and are kept as short texts.

import { type LongCard, type LongReading, roughBytes } from "@toolplane/engine";
import { type Card, isRecord, type JsonObject } from "@toolplane/protocol";
import { projectCards } from "@toolplane/protocol/agents";
import { LRUCache } from "lru-cache";
import { cardFullText } from "./card-text.ts";
import { READ_CARD } from "./read-card-name.ts";
import { shortText } from "./slice-text.ts";
import { readToolCall, shortArguments } from "./tool-calls.ts";

export interface TextOfResult {
  /** Of the whole text. */
  readonly length: number;
  /** The whole text, or its beginning and its end without what is between them. */
  readonly ends: string;
  /** What a model is shown when the text fits: it may be another view of the result. */
  readonly body?: string | undefined;
}

interface ShortResult extends TextOfResult {
  readonly resultChars: number;
}

/** Each of the two ends; longer than any excerpt. */
const END_CHARS = 8 * 1024;
/** About what a short card takes. */
export const SHORT_CARD_BYTES = 2 * END_CHARS;
/** More than a transcript shows (400,000 characters), also when every character is written as an escape. */
export const WHOLE_BYTES = 4 * 1024 * 1024;
/** Of two thousand long results. */
const REMEMBERED_CHARS = 32 * 1024 * 1024;
/** Entries of metadata that are longer say nothing a transcript needs. */
const METADATA_BYTES = 4 * 1024;
/** More than a step asks for. */
const MAX_CALLS = 200;
const MAX_ID = 200;

const shortResults = new WeakMap<Card, ShortResult>();

export const isShortened = (card: Card): boolean => shortResults.has(card);

export const textOfResult = (card: Card): TextOfResult => {
  const known = shortResults.get(card);
  if (known !== undefined) return known;
  const text = cardFullText(card) ?? "";
  return { length: text.length, ends: text };
};

/** The characters of a result, apart from its error. */
export const resultChars = (card: Card): number => {
  const known = shortResults.get(card);
  if (known !== undefined) return known.resultChars;
  if (card.content.__type__ !== "ToolResultContent") return 0;
  const { result } = card.content;
  if (typeof result === "string") return result.length;
  return typeof result === "object" && result !== null ? JSON.stringify(result).length : 0;
};

/** Slices would keep the whole text in memory. */
const copyText = (text: string): string => Buffer.from(text, "utf16le").toString("utf16le");

const shortMetadata = (metadata: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(metadata).filter(([, value]) => roughBytes(value, METADATA_BYTES) < METADATA_BYTES),
  );

/** A reading says what it read; its own text is short. */
const pieceOf = ({ metadata }: Card, result: unknown): JsonObject | null => {
  if (metadata.function_name !== READ_CARD || !isRecord(result)) return null;
  const { card_id, offset, total_chars, next_offset, text } = result as JsonObject;
  if (typeof text !== "string" || text.length > END_CHARS) return null;
  return {
    card_id: card_id ?? null,
    offset: offset ?? null,
    total_chars: total_chars ?? null,
    next_offset: next_offset ?? null,
    text,
  };
};

const shortenResult = (card: Card): Card => {
  const { content } = card;
  if (content.__type__ !== "ToolResultContent") return card;
  const text = cardFullText(card) ?? "";
  const ends = text.length <= 2 * END_CHARS ? text : copyText(text.slice(0, END_CHARS) + text.slice(-END_CHARS));
  const body = text.length <= END_CHARS ? projectCards([card]).messages[0]?.content : undefined;
  const short: Card = {
    ...card,
    content: { ...content, result: pieceOf(card, content.result), error: null },
    metadata: shortMetadata(card.metadata),
  };
  shortResults.set(short, { length: text.length, ends, body, resultChars: resultChars(card) });
  return short;
};

/** A result that belongs to a call. */
export const isResult = ({ content, tool_call_id: callId, tool_calls: calls }: Card): boolean =>
  content.__type__ === "ToolResultContent" && callId !== null && (calls === null || calls.length === 0);

const shorten = (card: Card): Card => {
  if (isResult(card)) return shortenResult(card);
  if (card.content.__type__ !== "ToolCallContent") return card;
  return { ...card, content: { ...card.content, arguments: {} }, metadata: shortMetadata(card.metadata) };
};

const heldBytes = (card: Card): number => {
  const short = shortResults.get(card);
  return short === undefined ? roughBytes(card, WHOLE_BYTES) : short.ends.length + (short.body?.length ?? 0);
};

const cutContent = (card: Card): Card["content"] => {
  const { content } = card;
  if (content.__type__ === "FieldsSchemaContent") return { ...content, fields: [] };
  if (content.__type__ === "ToolContent") return { ...content, tools: [] };
  const text = projectCards([{ ...card, tool_calls: null, tool_call_id: null }]).messages[0]?.content ?? "";
  return { __type__: "TextContent", text: copyText(shortText(text)) };
};

const cutCalls = (calls: readonly JsonObject[]): readonly JsonObject[] =>
  calls.slice(0, MAX_CALLS).map((entry) => {
    const { id, name, arguments: text } = readToolCall(entry);
    return { id: id.slice(0, MAX_ID), type: "function", function: { name, arguments: shortArguments(text) } };
  });

/** A card for which there is no room as it is. */
const cut = (card: Card): Card => {
  const short = shortResults.get(card);
  if (short !== undefined) {
    const again = { ...card };
    shortResults.set(again, { ...short, body: copyText(shortText(short.body ?? "")) });
    return again;
  }
  return {
    ...card,
    content: cutContent(card),
    tool_calls: card.tool_calls === null ? null : cutCalls(card.tool_calls),
    metadata: shortMetadata(card.metadata),
  };
};

const keyOf = (projectId: string, cardId: string): string => `${projectId} ${cardId}`;
const remembering = () =>
  new LRUCache<string, Card>({
    maxSize: REMEMBERED_CHARS,
    sizeCalculation: (card) => heldBytes(card) + METADATA_BYTES,
  });

// A card never changes (I7). A turn with hundreds of long ones would read every one again at each step.
const remembered = { short: remembering(), cut: remembering() };

/** Reads the long cards of one step, newest first. */
export const createLongReading = (projectId: string): LongReading => {
  let room = WHOLE_BYTES;
  return {
    known: ({ cardId }: LongCard) => {
      const key = keyOf(projectId, cardId);
      return remembered.short.get(key) ?? (room <= 0 ? remembered.cut.get(key) : undefined);
    },
    keep: (card) => {
      const key = keyOf(projectId, card.card_id);
      const short = shorten(card);
      const bytes = heldBytes(short);
      if (bytes <= SHORT_CARD_BYTES) {
        remembered.short.set(key, short);
        return short;
      }
      room -= bytes;
      if (room >= 0) return short;
      const rest = cut(short);
      remembered.cut.set(key, rest);
      return rest;
    },
  };
};
