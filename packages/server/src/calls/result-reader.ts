// Reads the results of calls together: results asked for while a read is on its way go with the next read. A lone result is read
// at once.

import type { CallAnswer, Engine } from "@toolplane/engine";
import type { Card } from "@toolplane/protocol";

type Cards = Pick<Engine, "cards">;

interface Entry {
  readonly view: CallAnswer;
  readonly cardId: string;
  resolve(card: Card | undefined): void;
  reject(error: unknown): void;
}

export type ReadResult = (view: CallAnswer) => Promise<Card | undefined>;

const MAX_AT_ONCE = 128;
const MAX_READS = 2;

export const createResultReader = ({ cards }: Cards): ReadResult => {
  const queue: Entry[] = [];
  let reads = 0;
  let isScheduled = false;

  const take = (): readonly Entry[] => {
    const projectId = queue[0]?.view.projectId;
    const taken = queue.filter(({ view }) => view.projectId === projectId).slice(0, MAX_AT_ONCE);
    const gone = new Set(taken);
    queue.splice(0, queue.length, ...queue.filter((entry) => !gone.has(entry)));
    return taken;
  };

  const read = async (entries: readonly Entry[]): Promise<void> => {
    reads += 1;
    try {
      const ids = entries.map(({ cardId }) => cardId);
      const found = await cards.getCards(entries[0]?.view.projectId ?? "", ids);
      const byId = new Map(found.map((card) => [card.card_id, card]));
      for (const entry of entries) entry.resolve(byId.get(entry.cardId));
    } catch (error) {
      for (const entry of entries) entry.reject(error);
    } finally {
      reads -= 1;
      flush();
    }
  };

  const flush = (): void => {
    isScheduled = false;
    while (queue.length > 0 && reads < MAX_READS) void read(take());
  };

  return (view) => {
    const cardId = view.resultCardId;
    // An answer that came with its content needs no read.
    if (cardId === null || view.content !== undefined) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      queue.push({ view, cardId, resolve, reject });
      if (isScheduled || reads >= MAX_READS) return;
      isScheduled = true;
      process.nextTick(flush);
    });
  };
};
