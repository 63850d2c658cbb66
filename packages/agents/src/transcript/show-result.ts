// How the text of one result is shown to a model: whole or as an excerpt with a pointer, bare or in a fence.

import { type Card, isRecord, isToken } from "@toolplane/protocol";
import { projectCards } from "@toolplane/protocol/agents";
import { cardFullText } from "./card-text.ts";
import { fence, fenceMark } from "./fence.ts";
import { READ_CARD } from "./read-card-name.ts";
import { type ShownText, shownOnce } from "./shown-texts.ts";
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

/** Our sentences stand outside the fence, so they must hold no foreign text: ids that are words are not shown. */
const isPlainId = (id: unknown): id is string => isToken(id) && id.length <= 64;

const pointer = (cardId: string, offset: number): string =>
  isPlainId(cardId) ? ` Read more with ${READ_CARD} ${JSON.stringify({ card_id: cardId, offset })}.` : "";

/** A foreign tool with this name must not count as the built-in one: its result would choose its own trust. */
export const isReading = (card: Card, agentId: string): boolean =>
  card.metadata.function_name === READ_CARD && card.author_id === agentId;

/** A reading says its position; the piece itself is never shortened again, because its length was chosen. */
const showPiece = (card: Card, agentId: string): ShownText | undefined => {
  if (!isReading(card, agentId) || card.content.__type__ !== "ToolResultContent") return undefined;
  const { result } = card.content;
  if (!isRecord(result) || typeof result.text !== "string") return undefined;
  const { card_id: source, offset, total_chars: total, next_offset: next } = result;
  const more = typeof next === "number" ? ` The next part begins at offset ${next}.` : " This is its end.";
  const of = isPlainId(source) ? ` of card ${source}` : "";
  return { text: result.text, note: `From offset ${Number(offset)} of the ${Number(total)} characters${of}.${more}` };
};

const showText = (card: Card, full: string, { limit, canReadMore }: ShowOptions): ShownText => {
  const cut = excerpt(full, limit);
  if (cut === undefined) {
    const body = projectCards([card]).messages[0]?.content ?? full;
    if (body.length >= full.length) return { text: body };
    const note = `Long output was cut; the whole result has ${full.length} characters.`;
    return { text: body, note: canReadMore ? note + pointer(card.card_id, 0) : note };
  }
  const left = cut.to - cut.from;
  const note = `The result has ${full.length} characters; ${left} of them, from offset ${cut.from}, are not shown.`;
  return {
    text: `${cut.head}\n[... ${left} characters not shown ...]\n${cut.tail}`,
    note: canReadMore ? note + pointer(card.card_id, cut.from) : note,
  };
};

const showOnce = (card: Card, options: ShowOptions): ShownText =>
  shownOnce(card, `${options.limit} ${options.canReadMore}`, () => {
    const full = cardFullText(card) ?? "";
    return { shown: showText(card, full, options), fullLength: full.length };
  });

export const showResult = (card: Card, options: ShowOptions): string => {
  const { text, note } = showPiece(card, options.agentId) ?? showOnce(card, options);
  const { trust, source, version } = options.trust;
  const name = card.metadata.function_name;
  const body =
    trust === "local" || text === ""
      ? text
      : fence(text, fenceMark(card.card_id, text), { tool: typeof name === "string" ? name : "", source, version });
  return note === undefined ? body : `${body}\n\n${note}`;
};
