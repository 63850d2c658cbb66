// Which cards a step sees, and in which order: the output box first, then the further cards of the context box.
//   OX1. A card that is in both boxes, or twice in one, is shown once, at its first place.
//   OX2. The order is the one the turn began with. What the turn itself wrote comes after the context: some providers refuse a
//       conversation that shows answers before the question, and others misread it. So the transcript of a turn only grows at
//       its end.
//   OX3. What an earlier turn said is shown once: its deliverable repeats its last thought, so it is left out where the thoughts of that
//       turn are shown. A deliverable that was made for a turn without a result says something new, and stays.

import { CARD_TYPES, type Card, isRecord } from "@toolplane/protocol";

export interface ContextCards {
  readonly agentTurnId: string;
  readonly outputCards: readonly Card[];
  readonly contextCards: readonly Card[];
}

const isMadeUp = ({ content }: Card): boolean =>
  content.__type__ === "JsonContent" && isRecord(content.data) && content.data.kind === "fallback_deliverable";

const withoutRepeats = (cards: readonly Card[]): readonly Card[] => {
  const thinking = new Set(
    cards.flatMap(({ type, metadata }) => (type === CARD_TYPES.agentThought ? [metadata.agent_turn_id] : [])),
  );
  return cards.filter(
    (card) => card.type !== CARD_TYPES.taskDeliverable || !thinking.has(card.metadata.agent_turn_id) || isMadeUp(card),
  );
};

export const orderContext = ({ agentTurnId, outputCards, contextCards }: ContextCards): readonly Card[] => {
  const own = outputCards.findIndex(({ metadata }) => metadata.agent_turn_id === agentTurnId);
  const split = own < 0 ? outputCards.length : own;
  const inOutput = new Set(outputCards.map(({ card_id }) => card_id));
  const added = contextCards.filter(({ card_id }) => !inOutput.has(card_id));
  const ordered = new Map<string, Card>();
  for (const card of [...outputCards.slice(0, split), ...added, ...outputCards.slice(split)]) {
    if (!ordered.has(card.card_id)) ordered.set(card.card_id, card);
  }
  return withoutRepeats([...ordered.values()]);
};
