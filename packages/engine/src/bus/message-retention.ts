// How long messages are kept: as long as the protocol's streams keep them. With an external bus every row of the outbox has not
// left yet and may not be deleted (I3): only events that have left are deleted there.

import { streamPlan } from "@toolplane/protocol/agents";
import type { CarriedBy } from "../outbox/stuck-messages.ts";
import type { Faults } from "../ports/faults.ts";
import type { Queryer, Statement } from "../sql/database.ts";
import { TRIM_COMMANDS, TRIM_EVENTS, TRIM_SENT_EVENTS } from "./retention.sql.ts";

export interface TrimMessagesOptions {
  readonly db: Queryer;
  readonly faults: Faults;
  /** Who carries messages: the database itself unless said otherwise. */
  readonly carrier?: CarriedBy | undefined;
  /** Rows per statement. */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface TrimmedMessages {
  readonly commands: number;
  readonly events: number;
  /** Those that had left for another bus. */
  readonly sentEvents: number;
}

/** A few milliseconds of work per statement, so that no other transaction waits noticeably for a locked row. */
const DEFAULT_LIMIT = 1000;

export const trimMessages = async (options: TrimMessagesOptions): Promise<TrimmedMessages> => {
  const { db, faults, signal, limit = DEFAULT_LIMIT, carrier = "postgres" } = options;
  const eventAgeMs = streamPlan("evt").maxAgeSeconds * 1000;
  const commandAgeMs = streamPlan("cmd").maxAgeSeconds * 1000;

  const trimAll = async (statement: Statement, ageMs: number): Promise<number> => {
    let total = 0;
    let trimmed = limit;
    while (trimmed >= limit && !signal?.aborted) {
      await faults.at("retain:before-commit");
      const [row] = await db.query<{ trimmed: number }>(statement, [ageMs, limit]);
      await faults.at("retain:after-commit");
      trimmed = row?.trimmed ?? 0;
      total += trimmed;
    }
    return total;
  };

  return {
    commands: carrier === "postgres" ? await trimAll(TRIM_COMMANDS, commandAgeMs) : 0,
    events: carrier === "postgres" ? await trimAll(TRIM_EVENTS, eventAgeMs) : 0,
    sentEvents: await trimAll(TRIM_SENT_EVENTS, eventAgeMs),
  };
};
