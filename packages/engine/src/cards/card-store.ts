// The card store.
//   I7. A card never changes: the same id and hash again changes nothing; the same id with another hash is `conflict`, and
//       nothing of the batch is written. Cards exist only in their project: every statement asks for (project, id).
//   CD1. Reads by id answer in the order asked, duplicates included; missing and expired cards are left out.

import {
  type Card,
  distinctIds,
  type HashText,
  isToolplaneError,
  orderAsRequested,
  ToolplaneError,
} from "@toolplane/protocol";
import { readInPieces } from "../coalescer/in-pieces.ts";
import type { Queryer } from "../sql/database.ts";
import { createCardReads } from "./card-reads.ts";
import { bindCards, type CardRow, type CardSize, PUT_CARDS, READ_SIZES, type StoredBody } from "./cards.sql.ts";
import { isPossibleId } from "./possible-id.ts";
import { prepareCard } from "./prepare-card.ts";

export interface CardRef {
  readonly cardId: string;
  readonly hash: string;
  /** False when the same card was there already. */
  readonly inserted: boolean;
}

export interface PutCardsOptions {
  /** Inside the caller's transaction. */
  readonly tx?: Queryer | undefined;
}

export interface CardBatch {
  readonly cards: readonly Card[];
  readonly missingIds: readonly string[];
  /** They are there, and would have made the answer too large: to be asked for again. */
  readonly omittedIds: readonly string[];
}

export interface CardStore {
  putCards(projectId: string, cards: readonly unknown[], options?: PutCardsOptions): Promise<readonly CardRef[]>;
  getCards(projectId: string, ids: readonly (string | null | undefined)[], tx?: Queryer): Promise<readonly Card[]>;
  /** The first of these ids whose cards have at most `MAX_ANSWER_BYTES` together, one of them at least; ids without a card count nothing. */
  firstThatFit(projectId: string, ids: readonly string[]): Promise<readonly string[]>;
  /** At most 100 distinct ids; each card once, in order of first mention; so many as fit into an answer. */
  getCardBatch(projectId: string, ids: readonly string[]): Promise<CardBatch>;
}

export interface CardStoreOptions {
  readonly db: Queryer;
  readonly sha256: HashText;
}

/** The limit of one request, and of one statement. */
const MAX_CARD_BATCH = 100;
const MAX_BATCH_BYTES = 32 * 1024 * 1024;
/** What the cards of one answer may have together. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

const planFitting = (ids: readonly string[], sizes: readonly CardSize[]): readonly string[] => {
  const bytesOf = new Map(sizes.map(({ card_id, bytes }) => [card_id, bytes]));
  let taken = 0;
  const end = ids.findIndex((id) => {
    const before = taken;
    taken += bytesOf.get(id) ?? 0;
    return before > 0 && taken > MAX_ANSWER_BYTES;
  });
  return end === -1 ? ids : ids.slice(0, end);
};

// The text was checked when it was written, and only we write its columns.
const readCard = ({ body }: StoredBody): Card => JSON.parse(body) as Card;

const readCards = (rows: readonly StoredBody[]): Promise<Card[]> =>
  readInPieces(rows, ({ body }) => body.length, readCard);

const sameCard = (cardId: string): ToolplaneError =>
  new ToolplaneError("conflict", `card ${cardId} exists with other content`, { detail: { card_id: cardId } });

/** One row per id; two contents for one id in a batch are refused like two in the table. */
const distinctRows = (rows: readonly CardRow[]): readonly CardRow[] => {
  const byId = new Map<string, CardRow>();
  for (const row of rows) {
    const first = byId.get(row.cardId);
    if (first !== undefined && first.hash !== row.hash) throw sameCard(row.cardId);
    if (first === undefined) byId.set(row.cardId, row);
  }
  return [...byId.values()];
};

const checkBatch = (rows: readonly CardRow[]): void => {
  const bytes = rows.reduce((sum, { body }) => sum + body.length, 0);
  if (bytes > MAX_BATCH_BYTES)
    throw new ToolplaneError("payload_too_large", `the cards of one write have more than ${MAX_BATCH_BYTES} bytes`, {
      detail: { max_bytes: MAX_BATCH_BYTES },
    });
};

const tooMany = (what: string): ToolplaneError =>
  new ToolplaneError("bad_request", `at most ${MAX_CARD_BATCH} ${what} at once`, { detail: { max: MAX_CARD_BATCH } });

/** The trigger names the card in the error's detail; the port below keeps it in the cause. */
const nameConflict = (error: unknown): unknown => {
  if (!isToolplaneError(error) || error.code !== "conflict") return error;
  const detail = (error.cause as { readonly detail?: unknown } | undefined)?.detail;
  return typeof detail === "string" ? sameCard(detail) : error;
};

export const createCardStore = ({ db, sha256 }: CardStoreOptions): CardStore => {
  const read = createCardReads(db);
  const readByIds = (projectId: string, ids: readonly string[], tx?: Queryer): Promise<readonly StoredBody[]> =>
    read(projectId, ids.filter(isPossibleId), tx);

  const firstThatFit = async (projectId: string, ids: readonly string[]): Promise<readonly string[]> => {
    const wanted = distinctIds(ids).filter(isPossibleId);
    if (wanted.length < 2) return ids;
    return planFitting(ids, await db.query<CardSize>(READ_SIZES, [projectId, wanted]));
  };

  return {
    firstThatFit,
    async putCards(projectId, cards, { tx = db } = {}) {
      if (cards.length > MAX_CARD_BATCH) throw tooMany("cards");
      const rows = cards.map((card) => prepareCard(card, { projectId, sha256 }));
      const distinct = distinctRows(rows);
      if (distinct.length === 0) return [];
      checkBatch(distinct);
      try {
        const inserted = await tx.query<{ card_id: string }>(PUT_CARDS, bindCards(distinct));
        const fresh = new Set(inserted.map(({ card_id }) => card_id));
        return rows.map(({ cardId, hash }) => ({ cardId, hash, inserted: fresh.has(cardId) }));
      } catch (error) {
        throw nameConflict(error);
      }
    },
    async getCards(projectId, ids, tx) {
      const rows = await readByIds(projectId, distinctIds(ids), tx);
      return orderAsRequested(ids, await readCards(rows));
    },
    async getCardBatch(projectId, ids) {
      const wanted = distinctIds(ids);
      if (wanted.length > MAX_CARD_BATCH) throw tooMany("card_ids");
      const fitting = await firstThatFit(projectId, wanted);
      const cards = orderAsRequested(fitting, await readCards(await readByIds(projectId, fitting)));
      const found = new Set(cards.map(({ card_id }) => card_id));
      const missingIds = fitting.filter((id) => !found.has(id));
      return { cards, missingIds, omittedIds: wanted.slice(fitting.length) };
    },
  };
};
