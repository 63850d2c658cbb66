// What a step reads: the newest cards of its turn's context and output. The boxes of many turns are one statement.

import { type Card, ToolplaneError } from "@toolplane/protocol";
import { readInTurns } from "../coalescer/in-turns.ts";
import type { Queryer } from "../sql/database.ts";
import type { TurnBoxes, TurnBoxesAsk } from "./turn.ts";
import { bindBoxes, READ_TURN_BOXES } from "./turn-boxes.sql.ts";

/** How many of the newest cards of a box a step reads; a model has no room for older ones. */
const BOX_TAIL = 500;
/** Cards of one answer; at the size cap of a card even these are gigabytes, in practice a few megabytes. */
const MAX_CARDS = 5_000;

interface BoxCard {
  readonly ord: number;
  readonly body: string;
}

export const readTurnBoxes = async (db: Queryer, asks: readonly TurnBoxesAsk[]): Promise<readonly TurnBoxes[]> => {
  const keys = asks.flatMap(({ projectId, contextBoxId, outputBoxId }) => [
    { projectId, boxId: contextBoxId },
    { projectId, boxId: outputBoxId },
  ]);
  const rows = await db.query<BoxCard>(READ_TURN_BOXES, bindBoxes(keys, BOX_TAIL, MAX_CARDS + 1));
  if (rows.length > MAX_CARDS)
    throw new ToolplaneError("bad_request", `these turns have more than ${MAX_CARDS} cards: ask for fewer at once`);
  // The text was checked when it was written.
  const cards = await readInTurns(
    rows,
    ({ body }) => body.length,
    ({ ord, body }) => ({ ord, card: JSON.parse(body) as Card }),
  );
  const byOrd = Map.groupBy(cards, ({ ord }) => ord);
  const cardsAt = (ord: number): readonly Card[] => (byOrd.get(ord) ?? []).map(({ card }) => card);
  return asks.map(({ contextBoxId, outputBoxId }, index) => ({
    context: contextBoxId === outputBoxId ? [] : cardsAt(2 * index + 1),
    output: cardsAt(2 * index + 2),
  }));
};
