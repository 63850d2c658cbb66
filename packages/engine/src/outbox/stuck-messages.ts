// Messages that could have left for some time and did not: the relay does not get through. Without a bus beside the database
// nothing has to leave. For the watchdog, for `stats`, and for "why is my call stuck".

import type { Queryer } from "../sql/database.ts";
import { STUCK_MESSAGES, type StuckRow } from "./relay.sql.ts";

/** Where messages are: with `postgres` events stay in the table by design, with `external` nothing should. */
export type CarriedBy = "postgres" | "external";

export interface StuckOptions {
  readonly db: Queryer;
  readonly carrier: CarriedBy;
  readonly olderThanMs: number;
  /** Rows that were read; beyond it the counts are "at least". */
  readonly limit?: number | undefined;
}

export interface StuckMessages {
  readonly category: "cmd" | "evt";
  readonly projectId: string;
  readonly component: string;
  readonly target: string;
  readonly messages: number;
  readonly oldestMs: number;
}

/** Enough to say what is stuck and how badly, without reading a backlog of a million. */
const DEFAULT_LIMIT = 1000;

/** One entry per receiver, the longest waiting first. */
export const stuckMessages = async (options: StuckOptions): Promise<readonly StuckMessages[]> => {
  const { db, carrier, olderThanMs, limit = DEFAULT_LIMIT } = options;
  if (carrier === "postgres") return [];
  const rows = await db.query<StuckRow>(STUCK_MESSAGES, [olderThanMs, limit]);
  return rows.map((row) => ({
    category: row.category,
    projectId: row.project_id,
    component: row.component,
    target: row.target,
    messages: row.messages,
    oldestMs: row.oldest_ms,
  }));
};

/** Why they wait, as far as this process knows. */
export const whyStuck = (relay: { readonly outages: number } | undefined): string =>
  (relay?.outages ?? 0) > 0
    ? "messages wait: the bus does not answer; check that it runs and can be reached"
    : "messages wait and no consumer takes them; ringing again";
