// What one transaction will write about turns: collected while it is decided, written by one statement.

import type { JsonValue } from "@toolplane/protocol";
import type { Queryer } from "../sql/database.ts";
import { bindTurnWrites, type TurnWrites } from "./turn-write-rows.sql.ts";
import { WRITE_TURNS } from "./write-turns.sql.ts";

export const createTurnWrites = (): TurnWrites => ({
  cards: [],
  boxes: [],
  steps: [],
  heads: [],
  turns: [],
  changes: [],
  arrivals: [],
  applied: [],
  messages: [],
  wakeups: [],
});

const hasWrites = (writes: TurnWrites): boolean => Object.values(writes).some((list) => list.length > 0);

/** Returns how many agents could not be rung: they have no pool (W-38). */
export const writeTurns = async (tx: Queryer, writes: TurnWrites, protocolVersion: string): Promise<number> => {
  if (!hasWrites(writes)) return 0;
  const [row] = await tx.query<{ unrung: number }>(WRITE_TURNS, bindTurnWrites(writes, protocolVersion));
  return row?.unrung ?? 0;
};

/** What a jsonb column can hold: the same document without NUL and without halves of characters. */
export const storableText = (document: JsonValue): string =>
  JSON.stringify(document, (_, value: unknown) =>
    typeof value === "string" ? value.toWellFormed().replaceAll("\u0000", "") : value,
  );

const MAX_ERROR_LENGTH = 2_000;

/** An error as events and rows carry it. */
export const errorText = (error: string): string =>
  error.slice(0, MAX_ERROR_LENGTH).toWellFormed().replaceAll("\u0000", "");
