// Batch reads: one query over the distinct ids, an answer in the order that was asked for.

/** The distinct ids to ask the store for, without blanks, in order of first mention. */
export const distinctIds = (ids: readonly (string | null | undefined)[]): string[] => [
  ...new Set(ids.filter((id): id is string => typeof id === "string" && id !== "")),
];

/** Input order with its duplicates; ids the store does not know are left out. */
export const orderAsRequested = <T extends { readonly card_id: string }>(
  ids: readonly (string | null | undefined)[],
  cards: readonly T[],
): T[] => {
  const byId = new Map(cards.map((card) => [card.card_id, card]));
  const ordered: T[] = [];
  for (const id of ids) {
    const card = typeof id === "string" ? byId.get(id) : undefined;
    if (card !== undefined) ordered.push(card);
  }
  return ordered;
};
