// Which result answers which call of a thought. Providers refuse a conversation in which a call has no answer, two answers, or an
// answer in another place, and one in which two calls share an id.
//   PR1. Every call of a thought is paired with at most one result card, and a result card with at most one call.
//   PR2. The id of a call in the transcript is the provider's; a repeated id is made distinct.

import { CARD_TYPES, type Card } from "@toolplane/protocol";
import { freshId, readToolCall, type ShownToolCall } from "./tool-calls.ts";

export interface PairedCall extends ShownToolCall {
  /** The one answer, if it was recorded. */
  readonly result?: Card | undefined;
}

export interface Pairing {
  /** Thought card id -> its calls, in order. */
  readonly calls: ReadonlyMap<string, readonly PairedCall[]>;
  /** Card ids of results that answer a call, or repeat an answer: they are not shown separately. */
  readonly taken: ReadonlySet<string>;
}

const isThought = (card: Card): boolean => card.tool_calls !== null && card.tool_calls.length > 0;

/** A result is any card that carries a call id and is not the call itself. */
const isResult = (card: Card): boolean => card.tool_call_id !== null && card.content.__type__ !== "ToolCallContent";

const answersTo = (card: Card, id: string): boolean =>
  card.metadata.provider_tool_call_id === id || card.tool_call_id === id;

/** The cards between a thought and the next: the calls and local answers of its step. */
const stepCards = (cards: readonly Card[], at: number): readonly Card[] => {
  const next = cards.findIndex((card, index) => index > at && isThought(card));
  return cards.slice(at + 1, next < 0 ? cards.length : next);
};

interface Books {
  readonly resultOf: ReadonlyMap<string, Card>;
  readonly usedIds: Set<string>;
  readonly usedCalls: Set<string>;
  readonly taken: Set<string>;
}

/** The plane's id of the call: from its tool.call card, or from its result if it never had such a card (submit_result). */
const ownCallId = (step: readonly Card[], entry: ShownToolCall, { usedCalls }: Books): string | undefined => {
  const isOpen = (card: Card): boolean => card.tool_call_id !== null && !usedCalls.has(card.tool_call_id);
  const call = step.find((card) => card.type === CARD_TYPES.toolCall && isOpen(card) && answersTo(card, entry.id));
  const found = call ?? step.find((card) => isResult(card) && isOpen(card) && answersTo(card, entry.id));
  return found?.tool_call_id ?? undefined;
};

const pairCall = (step: readonly Card[], entry: ShownToolCall, books: Books): PairedCall => {
  const id = freshId(entry.id === "" ? "call" : entry.id, books.usedIds);
  books.usedIds.add(id);
  const callId = ownCallId(step, entry, books);
  if (callId === undefined) return { ...entry, id };
  books.usedCalls.add(callId);
  const result = books.resultOf.get(callId);
  if (result !== undefined) books.taken.add(result.card_id);
  return { ...entry, id, result };
};

const firstResults = (cards: readonly Card[]): Map<string, Card> => {
  const first = new Map<string, Card>();
  for (const card of cards) {
    if (isResult(card) && card.tool_call_id !== null && !first.has(card.tool_call_id))
      first.set(card.tool_call_id, card);
  }
  return first;
};

export const pairResults = (cards: readonly Card[]): Pairing => {
  const resultOf = firstResults(cards);
  const books: Books = { resultOf, usedIds: new Set(), usedCalls: new Set(), taken: new Set() };
  const calls = new Map<string, readonly PairedCall[]>();
  for (const [at, card] of cards.entries()) {
    if (!isThought(card)) continue;
    const step = stepCards(cards, at);
    calls.set(
      card.card_id,
      (card.tool_calls ?? []).map((entry) => pairCall(step, readToolCall(entry), books)),
    );
  }
  for (const card of cards) {
    if (isResult(card) && resultOf.get(card.tool_call_id ?? "") !== card) books.taken.add(card.card_id);
  }
  return { calls, taken: books.taken };
};
