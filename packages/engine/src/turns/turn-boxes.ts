// What a step reads: the newest cards of its turn's context and output. The boxes of many turns are one statement.
//   Bounded in bytes, not only in cards. An ordinary card comes with its box. A long one is only named, and read afterwards in
//   pages: of each page the reader keeps what it needs, before the next one comes.

import { type Card, ToolplaneError } from "@toolplane/protocol";
import { readInPieces } from "../coalescer/in-pieces.ts";
import type { Queryer } from "../sql/database.ts";
import type { ListedBoxes, LongCard, LongReading, TurnBoxes, TurnBoxesAsk } from "./listed-boxes.ts";
import { type BoxCardRow, bindBoxes, READ_LONG_CARDS, READ_TURN_BOXES } from "./turn-boxes.sql.ts";

/** How many of the newest cards of a box a step reads; a model has no room for older ones. */
export const BOX_TAIL = 500;
/** Cards of one answer. */
const MAX_CARDS = 5_000;
/** A longer card is shown to a model as an excerpt, or is one of few. */
const LONG_CARD_BYTES = 32 * 1024;
/** What comes with the boxes of one turn: more than a model is shown. */
const TURN_BYTES = 1024 * 1024;
/** Long cards that are in memory at once as they are stored; four of the longest. */
const PAGE_BYTES = 4 * 1024 * 1024;

const bounds = { tail: BOX_TAIL, cards: MAX_CARDS + 1, cardBytes: LONG_CARD_BYTES, turnBytes: TURN_BYTES };

// The text was checked when it was written.
const parse = (body: string): Card => JSON.parse(body) as Card;

export const readTurnBoxes = async (db: Queryer, asks: readonly TurnBoxesAsk[]): Promise<readonly ListedBoxes[]> => {
  const keys = asks.flatMap(({ projectId, contextBoxId, outputBoxId }) => [
    { projectId, boxId: contextBoxId },
    { projectId, boxId: outputBoxId },
  ]);
  const rows = await db.query<BoxCardRow>(READ_TURN_BOXES, bindBoxes(keys, bounds));
  if (rows.length > MAX_CARDS)
    throw new ToolplaneError("bad_request", `these turns have more than ${MAX_CARDS} cards: ask for fewer at once`);
  const items = await readInPieces(
    rows,
    ({ body }) => body?.length ?? 0,
    ({ ord, body, card_id: cardId, type, bytes }) => ({
      ord,
      item: body === null ? { cardId, type, bytes } : parse(body),
    }),
  );
  const byOrd = Map.groupBy(items, ({ ord }) => ord);
  const itemsAt = (ord: number): ListedBoxes["output"] => (byOrd.get(ord) ?? []).map(({ item }) => item);
  return asks.map(({ contextBoxId, outputBoxId }, index) => ({
    context: contextBoxId === outputBoxId ? [] : itemsAt(2 * index + 1),
    output: itemsAt(2 * index + 2),
  }));
};

const isLong = (item: Card | LongCard): item is LongCard => "bytes" in item;

/** The cards that are only named, newest first. */
export const longIn = ({ context, output }: ListedBoxes): readonly LongCard[] =>
  [...context, ...output].filter(isLong).toReversed();

/** The boxes with what was kept of their long cards. */
export const fillBoxes = ({ context, output }: ListedBoxes, kept: ReadonlyMap<string, Card>): TurnBoxes => {
  const fill = (items: readonly (Card | LongCard)[]): readonly Card[] =>
    items.map((item) => (isLong(item) ? kept.get(item.cardId) : item)).filter((card) => card !== undefined);
  return { context: fill(context), output: fill(output) };
};

export const readLongCards = async (
  db: Queryer,
  projectId: string,
  long: readonly LongCard[],
  { known, keep }: LongReading,
): Promise<ReadonlyMap<string, Card>> => {
  const kept = new Map<string, Card>();
  let page = new Set<string>();
  let bytes = 0;
  const read = async (): Promise<void> => {
    if (page.size === 0) return;
    const rows = await db.query<{ readonly body: string }>(READ_LONG_CARDS, [projectId, [...page]]);
    const cards = await readInPieces(
      rows,
      ({ body }) => body.length,
      ({ body }) => keep(parse(body)),
    );
    for (const card of cards) kept.set(card.card_id, card);
    page = new Set();
    bytes = 0;
  };
  for (const item of long) {
    if (kept.has(item.cardId) || page.has(item.cardId)) continue;
    const before = known?.(item);
    if (before !== undefined) {
      kept.set(item.cardId, before);
      continue;
    }
    if (bytes + item.bytes > PAGE_BYTES) await read();
    page.add(item.cardId);
    bytes += item.bytes;
  }
  await read();
  return kept;
};
