// How the text of one result is shown to a model: whole or as an excerpt with a pointer, bare or in a fence.

import { type Card, isRecord, isToken } from "@toolplane/protocol";
import { projectCards } from "@toolplane/protocol/agents";
import { fence, fenceMark } from "./fence.ts";
import { textOfResult } from "./long-cards.ts";
import { READ_CARD } from "./read-card-name.ts";
import { excerpt } from "./slice-text.ts";
import type { ToolTrust } from "./trust.ts";

export interface ShowOptions {
  /** The agent of this transcript; only a card that its own worker wrote counts as a reading. */
  readonly agentId: string;
  readonly limit: number;
  readonly trust: ToolTrust;
  /** Whether `read_card` is offered in this step. */
  readonly canReadMore: boolean;
}

interface Shown {
  readonly text: string;
  /** A sentence of ours about it; stands outside the fence. */
  readonly note?: string | undefined;
}

/** Our sentences stand outside the fence, so they must hold no foreign text: ids that are words are not shown. */
const isPlainId = (id: unknown): id is string => isToken(id) && id.length <= 64;

const pointer = (cardId: string, offset: number): string =>
  isPlainId(cardId) ? ` Read more with ${READ_CARD} ${JSON.stringify({ card_id: cardId, offset })}.` : "";

/** A foreign tool with this name must not count as the built-in one: its result would choose its own trust. */
export const isReading = (card: Card, agentId: string): boolean =>
  card.metadata.function_name === READ_CARD && card.author_id === agentId;

/** A reading says its position; the piece itself is never shortened again, because its length was chosen. */
const showPiece = (card: Card, agentId: string): Shown | undefined => {
  if (!isReading(card, agentId) || card.content.__type__ !== "ToolResultContent") return undefined;
  const { result } = card.content;
  if (!isRecord(result) || typeof result.text !== "string") return undefined;
  const { card_id: source, offset, total_chars: total, next_offset: next } = result;
  const more = typeof next === "number" ? ` The next part begins at offset ${next}.` : " This is its end.";
  const of = isPlainId(source) ? ` of card ${source}` : "";
  return { text: result.text, note: `From offset ${Number(offset)} of the ${Number(total)} characters${of}.${more}` };
};

const showText = (card: Card, { limit, canReadMore }: ShowOptions): Shown => {
  const { length, ends, body: known } = textOfResult(card);
  const cut = excerpt(ends, limit);
  if (cut === undefined) {
    const body = known ?? projectCards([card]).messages[0]?.content ?? ends;
    if (body.length >= length) return { text: body };
    const note = `Long output was cut; the whole result has ${length} characters.`;
    return { text: body, note: canReadMore ? note + pointer(card.card_id, 0) : note };
  }
  // What is between the ends is not shown either.
  const left = cut.to - cut.from + length - ends.length;
  const note = `The result has ${length} characters; ${left} of them, from offset ${cut.from}, are not shown.`;
  return {
    text: `${cut.head}\n[... ${left} characters not shown ...]\n${cut.tail}`,
    note: canReadMore ? note + pointer(card.card_id, cut.from) : note,
  };
};

export const showResult = (card: Card, options: ShowOptions): string => {
  const { text, note } = showPiece(card, options.agentId) ?? showText(card, options);
  const { trust, source, version } = options.trust;
  const name = card.metadata.function_name;
  const body =
    trust === "local" || text === ""
      ? text
      : fence(text, fenceMark(card.card_id, text), { tool: typeof name === "string" ? name : "", source, version });
  return note === undefined ? body : `${body}\n\n${note}`;
};
