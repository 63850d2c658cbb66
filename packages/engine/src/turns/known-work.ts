// What this process knows of work that it handed to a worker: the head and the turn as the transaction that took the work left them.
// A step is then planned from memory, and one message to the database checks the memory, holds the heads and writes (0071).
//   Every statement that changes a head, or what is decided under it, writes the head (hold.sql.ts). So a head of the same version
//   means that all of it is as it was. A claim that was given back does not change the head: it is checked by itself.
//   Memory that is not true costs a round trip: the caller then holds and reads as without memory.

import type { Clock } from "../ports/clock.ts";
import type { Database, Part } from "../sql/database.ts";
import { isOfTheStatement } from "../sql/database-error.ts";
import type { HeldWork } from "./claimed-work.ts";
import { bindKept, KEEP_LAST_WORK, KEEP_WORK } from "./hold.sql.ts";
import type { Work } from "./turn.ts";
import type { HeadRow, TurnRow } from "./turn-row.ts";

/** Both as they are after the transaction. */
export interface KnownTurn {
  readonly head: HeadRow;
  readonly turn: TurnRow;
}

interface Memory extends KnownTurn {
  readonly version: string;
  readonly atMs: number;
}

export interface RecalledWork {
  readonly held: readonly HeldWork[];
  /** Checks all of it and holds the heads; `last`: also that no turn waits for the agents. */
  keep(last: boolean): Part;
}

export interface KnownWork {
  /** After the commit. Nothing is remembered without a version. */
  remember(work: Work, known: KnownTurn, version: string | undefined): void;
  /** Undefined unless all of it is remembered. */
  recall(works: readonly Work[]): RecalledWork | undefined;
}

/** Kept as long as the worker keeps its work; a copy of the work is not known. */
export const createKnownWork = (clock: Clock): KnownWork => {
  const memory = new WeakMap<Work, Memory>();

  const heldOf = (work: Work, { head, turn, atMs }: Memory): HeldWork => ({
    // The clock of the database, as far as it can be told without asking.
    head: { ...head, now_ms: head.now_ms + Math.max(0, clock.now() - atMs) },
    turn: {
      ...turn,
      inbox_status: "processing",
      claim_id: work.claimId,
      step_status: null,
      step_hash: null,
      step_outcome: null,
    },
    current: true,
    queue: [],
  });

  return {
    remember(work, known, version) {
      if (version !== undefined) memory.set(work, { ...known, version, atMs: clock.now() });
    },
    recall(works) {
      const found = works.flatMap((work) => {
        const known = memory.get(work);
        return known === undefined ? [] : [{ work, known }];
      });
      if (found.length < works.length) return undefined;
      return {
        held: found.map(({ work, known }) => heldOf(work, known)),
        keep: (last) => ({
          statement: last ? KEEP_LAST_WORK : KEEP_WORK,
          values: bindKept(found.map(({ work, known }) => ({ ...work, version: known.version }))),
        }),
      };
    },
  };
};

/**
 * Less than a socket takes at once. The server holds the heads from the first statement on, so a process that stops in the middle of a
 * longer message would hold them until its connection ends.
 */
const MOST_BYTES = 64 * 1024;

const bytesOf = (parts: readonly Part[]): number =>
  parts.reduce(
    (sum, { values }) =>
      values.reduce<number>((own, value) => own + (Buffer.isBuffer(value) ? value.length : String(value).length), sum),
    0,
  );

/** The rows of each part; undefined when they are too long for one message, or the server refused, and nothing was written. */
export const tryTogether = async (db: Database, parts: readonly Part[]): Promise<readonly object[][] | undefined> => {
  if (bytesOf(parts) > MOST_BYTES) return undefined;
  try {
    return await db.together(parts);
  } catch (error) {
    if (isOfTheStatement(error)) return undefined;
    throw error;
  }
};
