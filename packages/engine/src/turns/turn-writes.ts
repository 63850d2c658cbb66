// What one transaction will write about turns: collected during the decision, written by one statement.

import { type JsonValue, storableText } from "@toolplane/protocol";
import type { Part, Queryer, Transaction } from "../sql/database.ts";
import type { RungAgent } from "./agent-bells.ts";
import { packEvents } from "./pack-events.ts";
import type { TurnWrites } from "./turn-write-rows.sql.ts";
import { writeStatement } from "./write-turns.sql.ts";

export const createTurnWrites = (): TurnWrites => ({
  spawned: [],
  cards: [],
  boxes: [],
  steps: [],
  heads: [],
  touched: [],
  turns: [],
  changes: [],
  arrivals: [],
  applied: [],
  messages: [],
  wakeups: [],
});

export interface WriteMeans {
  readonly protocolVersion: string;
  /** A bus beside the database carries wakeups: they are rows. */
  readonly external: boolean;
}

export interface Written {
  /** How many agents could not be rung: they have no pool (W-38). */
  readonly unrung: number;
  readonly rung: readonly RungAgent[];
  /** The version of the heads that were written; undefined when nothing was. */
  readonly version?: string | undefined;
}

export const NOTHING_WRITTEN: Written = { unrung: 0, rung: [] };

/** What a transaction has written last, with its commit. */
export const commitTurns = (tx: Transaction, writes: TurnWrites, means: WriteMeans): Promise<Written> =>
  writeTurns({ query: tx.last }, writes, means);

interface Answer {
  readonly unrung: number;
  readonly rung: readonly RungAgent[] | null;
  readonly version: string;
}

/** The statement that writes all of it; undefined when there is nothing to write. */
export const writePart = (writes: TurnWrites, means: WriteMeans): Part | undefined => {
  const packed = { ...writes, ...packEvents(writes.messages) };
  const plan = writeStatement(packed, means.external);
  return plan && { statement: plan.statement, values: plan.bind(packed, means.protocolVersion) };
};

/** What that statement answered. */
export const writtenOf = (rows: readonly object[]): Written => {
  const [row] = rows as readonly Answer[];
  return { unrung: row?.unrung ?? 0, rung: row?.rung ?? [], version: row?.version };
};

export const writeTurns = async (
  tx: Pick<Queryer, "query">,
  writes: TurnWrites,
  means: WriteMeans,
): Promise<Written> => {
  const part = writePart(writes, means);
  return part === undefined ? NOTHING_WRITTEN : writtenOf(await tx.query(part.statement, part.values));
};

/** The same document in a form that jsonb can hold: a mark in place of NUL and of half surrogate pairs. */
export const storableJson = (document: JsonValue): string =>
  JSON.stringify(document, (_, value: unknown) => (typeof value === "string" ? storableText(value) : value));

const MAX_ERROR_LENGTH = 2_000;

/** An error as events and rows carry it. */
export const errorText = (error: string): string => storableText(error, MAX_ERROR_LENGTH);
