// Reads what retention has left: a request for a turn or a call that retention deleted is told so, and where its chain ended.

import { showName, ToolplaneError } from "@toolplane/protocol";
import type { ChainKey } from "../calls/turn-chain.ts";
import type { Queryer } from "../sql/database.ts";
import { bindTombstones, READ_TOMBSTONES, type TombstoneRow } from "./tombstones.sql.ts";

export interface Tombstone {
  /** Where the chain ended; null for a turn of which none is known. */
  readonly chainHead: string | null;
  readonly links: number;
  /** How many cards went with it. */
  readonly cards: number;
  readonly endedAt: string;
  readonly forgottenAt: string;
}

const tombstoneOf = (row: TombstoneRow): Tombstone => ({
  chainHead: row.chain_hash,
  links: row.links,
  cards: row.cards,
  endedAt: row.ended_at.toISOString(),
  forgottenAt: row.forgotten_at.toISOString(),
});

/** In the order asked; undefined where there is none. */
export const readTombstones = async (
  db: Queryer,
  keys: readonly ChainKey[],
): Promise<readonly (Tombstone | undefined)[]> => {
  if (keys.length === 0) return [];
  const rows = await db.query<TombstoneRow>(READ_TOMBSTONES, bindTombstones(keys));
  const found = new Map(rows.map((row) => [row.ord, tombstoneOf(row)]));
  return keys.map((_, index) => found.get(index + 1));
};

/** The error for a turn or call that does not exist: it never did, or retention deleted it; then the error has the tombstone. */
export const notThere = (noun: "turn" | "call", id: string, tombstone: Tombstone | undefined): ToolplaneError => {
  if (tombstone === undefined)
    return new ToolplaneError("not_found", `there is no ${noun} ${showName(id)} in this project`);
  const { chainHead, links, cards, endedAt, forgottenAt } = tombstone;
  return new ToolplaneError(
    "not_found",
    `${noun} ${showName(id)} was forgotten at ${forgottenAt}, as retention asks; its history ended with chain head ${chainHead}`,
    { detail: { chain_head: chainHead, links, cards, ended_at: endedAt, forgotten_at: forgottenAt } },
  );
};
