// How much waits: calls by target and status, and messages for a bus beside the database. Bounded reads, for those who measure; an
// answer is used again for a while, so that asking often costs nothing.

import type { CarriedBy } from "../outbox/stuck-messages.ts";
import type { Clock } from "../ports/clock.ts";
import type { Queryer } from "../sql/database.ts";
import { OPEN_BREAKERS, OUTBOX_DEPTH, type OutboxDepthRow, QUEUE_DEPTHS, type QueueDepthRow } from "./stats.sql.ts";

export interface PlaneDepths {
  /** The largest groups first, at most 200. */
  readonly calls: readonly {
    readonly target: string;
    readonly status: "queued" | "running" | "awaiting_approval";
    readonly calls: number;
    /** Of these, calls that a limit of their tool or project holds. */
    readonly limited: number;
    readonly oldestSeconds: number;
  }[];
  /** Tools and targets whose breaker is open. */
  readonly openBreakers: number;
  /** Undefined without a bus beside the database. */
  readonly outbox: { readonly messages: number; readonly oldestSeconds: number } | undefined;
}

/** Some tens of milliseconds of the database at most; beyond it a number means "at least". */
const MAX_ROWS = 100_000;
/** Scrapers ask every 15 seconds or so; several of them share an answer. */
const REMEMBER_MS = 5_000;

export const createPlaneDepths = (deps: {
  readonly db: Queryer;
  readonly clock: Clock;
  readonly carrier: CarriedBy;
}): (() => Promise<PlaneDepths>) => {
  const { db, clock, carrier } = deps;
  let asked: Promise<PlaneDepths> | undefined;
  let askedAt = 0;

  const ask = async (): Promise<PlaneDepths> => {
    const rows = await db.query<QueueDepthRow>(QUEUE_DEPTHS, [MAX_ROWS]);
    const [outbox] = carrier === "postgres" ? [] : await db.query<OutboxDepthRow>(OUTBOX_DEPTH, [MAX_ROWS]);
    const [breakers] = await db.query<{ open: number }>(OPEN_BREAKERS, [MAX_ROWS]);
    return {
      openBreakers: breakers?.open ?? 0,
      calls: rows.map(({ oldest_seconds: oldestSeconds, ...row }) => ({ ...row, oldestSeconds })),
      outbox: outbox && { messages: outbox.messages, oldestSeconds: outbox.oldest_seconds },
    };
  };

  return () => {
    if (asked === undefined || clock.now() - askedAt > REMEMBER_MS) {
      askedAt = clock.now();
      const mine = ask();
      asked = mine;
      // A failed answer is not remembered.
      mine.catch(() => {
        if (asked === mine) asked = undefined;
      });
    }
    return asked;
  };
};
