// Remembers the two ends of long results: all that a transcript shows of them. A card never changes (I7), and the text of a result of a
// megabyte takes milliseconds: a turn with hundreds of them would make every one again at each step, in one piece, while others
// wait.

import { readInTurns, roughBytes } from "@toolplane/engine";
import type { Card } from "@toolplane/protocol";
import { LRUCache } from "lru-cache";
import { cardFullText } from "./card-text.ts";

export interface EndsOfText {
  /** Of the whole text. */
  readonly length: number;
  /** The whole text, or its beginning and its end without what is between them. */
  readonly ends: string;
}

/** Each of the two ends of a text that is remembered; longer than any excerpt. */
const END_CHARS = 16 * 1024;
/** Making a shorter text again is cheaper than a place here. */
const SHORT_TEXT = 64 * 1024;
/** Counts as much, so that each long result has a turn of its own. */
const AT_ONCE = 1024 * 1024;
/** Of a thousand long results. */
const MAX_CHARS = 32 * 1024 * 1024;

const known = new LRUCache<string, EndsOfText>({
  maxSize: MAX_CHARS,
  sizeCalculation: ({ ends }) => ends.length,
});

/** `enough`: the longest excerpt that is wanted. */
export const endsOfText = (card: Card, enough: number): EndsOfText => {
  const key = `${card.project_id} ${card.card_id}`;
  const before = enough > END_CHARS ? undefined : known.get(key);
  if (before !== undefined) return before;
  const text = cardFullText(card) ?? "";
  if (enough > END_CHARS || text.length <= SHORT_TEXT) return { length: text.length, ends: text };
  // Joined anew: slices would keep the whole text in memory.
  const ends = Buffer.from(text.slice(0, END_CHARS) + text.slice(-END_CHARS), "utf16le").toString("utf16le");
  const both = { length: text.length, ends };
  known.set(key, both);
  return both;
};

const isLong = ({ content }: Card): boolean =>
  content.__type__ === "ToolResultContent" && roughBytes(content, SHORT_TEXT) >= SHORT_TEXT;

/**
 * Reads the long results among the cards before a transcript needs them, and lets other work run between them. Without it a turn of
 * hundreds that another process, or this one after a restart, continues would read all of them in one piece.
 */
export const rememberLongTexts = async (cards: readonly Card[]): Promise<void> => {
  const long = cards.filter(isLong);
  if (long.length > 0)
    await readInTurns(
      long,
      () => AT_ONCE,
      (card) => endsOfText(card, 0).length,
    );
};
