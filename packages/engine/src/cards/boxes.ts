// Boxes: ordered lists of card ids, duplicates allowed. They are made and read here; turns append to them (turns/write-turns.sql.ts).
//   BX1. A box only grows: no statement replaces its list or takes a card out of it.
//   BX2. A box of another project does not exist.

import { type Card, distinctIds, ToolplaneError } from "@toolplane/protocol";
import type { Ground } from "../ports/ground.ts";
import type { Queryer } from "../sql/database.ts";
import { type BoxRow, CREATE_BOX, READ_BOXES } from "./boxes.sql.ts";
import type { CardStore } from "./card-store.ts";
import { isPossibleId } from "./possible-id.ts";

export interface Box {
  readonly boxId: string;
  readonly parentIds: readonly string[];
  /** The whole length; `cardIds` may be only its tail. */
  readonly length: number;
  readonly cardIds: readonly string[];
}

export interface HydratedBox extends Box {
  readonly hydratedCards?: readonly Card[];
  /** Not all of the box is here: its ids, or its cards, begin later than it does. Only so many cards come as fit into an answer. */
  readonly truncated: boolean;
}

export interface BoxBatch {
  readonly boxes: readonly HydratedBox[];
  readonly missingBoxIds: readonly string[];
  readonly missingCardIds: readonly string[];
}

export interface BoxBatchOptions {
  readonly hydrate?: boolean | undefined;
  /** So many from the end of each box. Without it all ids come, and of the cards the newest 200. */
  readonly limit?: number | undefined;
}

export interface CreateBoxOptions {
  readonly parentIds?: readonly string[] | undefined;
  readonly tx?: Queryer | undefined;
}

export interface Boxes {
  createBox(projectId: string, cardIds: readonly string[], options?: CreateBoxOptions): Promise<string>;
  loadBox(projectId: string, boxId: string, tx?: Queryer): Promise<Box | undefined>;
  /** The newest cards of a box that fit into an answer, oldest of them first; undefined when the project has no such box. */
  loadBoxCards(projectId: string, boxId: string, limit?: number): Promise<readonly Card[] | undefined>;
  loadBoxes(projectId: string, boxIds: readonly string[], options?: BoxBatchOptions): Promise<BoxBatch>;
}

export interface BoxesOptions extends Pick<Ground, "db" | "ids"> {
  readonly cards: Pick<CardStore, "getCards" | "firstThatFit">;
}

const DEFAULT_TAIL = 200;
const MAX_TAIL = 500;
const MAX_BOX_BATCH = 100;
/** A step writes a few cards; more in one request is a mistake, and one statement should stay small. */
const MAX_CARDS_AT_ONCE = 10_000;
/** Cards of one answer, which is bounded in bytes as well. */
const MAX_HYDRATED = 5_000;

const refused = (message: string, detail: Readonly<Record<string, unknown>>): ToolplaneError =>
  new ToolplaneError("bad_request", message, { detail });

const checkCardIds = (cardIds: readonly string[]): void => {
  if (cardIds.length > MAX_CARDS_AT_ONCE)
    throw refused(`at most ${MAX_CARDS_AT_ONCE} cards at once`, { max: MAX_CARDS_AT_ONCE });
  const bad = cardIds.findIndex((id) => !isPossibleId(id));
  if (bad !== -1) throw refused(`card_ids[${bad}] is not an id`, { path: `$.card_ids[${bad}]` });
};

const checkTail = (limit: number): number => {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_TAIL) return limit;
  throw refused(`limit is a whole number from 1 to ${MAX_TAIL}`, { max: MAX_TAIL });
};

/** Box ids are shown in the usual form of UUIDs. */
export const dashedUuid = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");

const toBox = (row: BoxRow): Box => ({
  boxId: row.box_id,
  parentIds: row.parent_ids,
  length: row.length,
  cardIds: row.card_ids,
});

export const createBoxes = ({ db, ids, cards }: BoxesOptions): Boxes => {
  const read = async (
    projectId: string,
    boxIds: readonly string[],
    tail: number | null,
    tx: Queryer,
  ): Promise<Box[]> => {
    const possible = boxIds.filter(isPossibleId);
    if (possible.length === 0) return [];
    return (await tx.query<BoxRow>(READ_BOXES, [projectId, possible, tail])).map(toBox);
  };

  /** The ends of these lists whose cards fit into one answer; of earlier lists before those of later ones. */
  const newestThatFit = async (
    projectId: string,
    lists: readonly (readonly string[])[],
  ): Promise<readonly (readonly string[])[]> => {
    let left = (
      await cards.firstThatFit(
        projectId,
        lists.flatMap((list) => list.toReversed()),
      )
    ).length;
    return lists.map((list) => {
      const count = Math.min(list.length, left);
      left -= count;
      return list.slice(list.length - count);
    });
  };

  return {
    async createBox(projectId, cardIds, { parentIds = [], tx = db } = {}) {
      checkCardIds(cardIds);
      const boxId = dashedUuid(ids.uuid());
      await tx.query(CREATE_BOX, [projectId, boxId, parentIds, cardIds]);
      return boxId;
    },
    async loadBox(projectId, boxId, tx = db) {
      return (await read(projectId, [boxId], null, tx))[0];
    },
    async loadBoxCards(projectId, boxId, limit = DEFAULT_TAIL) {
      const [box] = await read(projectId, [boxId], checkTail(limit), db);
      return box === undefined
        ? undefined
        : cards.getCards(projectId, (await newestThatFit(projectId, [box.cardIds]))[0] ?? []);
    },
    async loadBoxes(projectId, boxIds, { hydrate = false, limit } = {}) {
      const wanted = distinctIds(boxIds);
      if (wanted.length > MAX_BOX_BATCH)
        throw refused(`at most ${MAX_BOX_BATCH} box_ids at once`, { max: MAX_BOX_BATCH });
      const tail = limit === undefined ? null : checkTail(limit);
      const found = new Map((await read(projectId, wanted, tail, db)).map((box) => [box.boxId, box]));
      const boxes = wanted
        .map((id) => found.get(id))
        .filter((box) => box !== undefined)
        .map((box) => ({ ...box, truncated: box.cardIds.length < box.length }));
      const missingBoxIds = wanted.filter((id) => !found.has(id));
      if (!hydrate) return { boxes, missingBoxIds, missingCardIds: [] };
      const tails = boxes.map((box) => box.cardIds.slice(-(tail ?? DEFAULT_TAIL)));
      if (distinctIds(tails.flat()).length > MAX_HYDRATED)
        throw refused(`these boxes hold more than ${MAX_HYDRATED} cards: ask for fewer boxes or a lower limit`, {
          max: MAX_HYDRATED,
        });
      const fitting = await newestThatFit(projectId, tails);
      const shown = boxes.map((box, index) => ({ box, ids: fitting[index] ?? [] }));
      const cardIds = distinctIds(shown.flatMap((one) => one.ids));
      const byId = new Map((await cards.getCards(projectId, cardIds)).map((card) => [card.card_id, card]));
      const hydrated = shown.map(({ box, ids: tailIds }) => ({
        ...box,
        truncated: tailIds.length < box.length,
        hydratedCards: tailIds.map((id) => byId.get(id)).filter((card) => card !== undefined),
      }));
      return { boxes: hydrated, missingBoxIds, missingCardIds: cardIds.filter((id) => !byId.has(id)) };
    },
  };
};
