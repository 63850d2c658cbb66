// How long the postgres bus keeps messages: as long as the protocol's streams do. For the postgres bus only: with an
// external bus every row here is one that has not left yet, and none may be dropped (I3).

import { streamPlan } from "@toolplane/protocol/agents";
import type { Faults } from "../ports/faults.ts";
import type { Queryer, Statement } from "../sql/database.ts";
import { TRIM_COMMANDS, TRIM_EVENTS } from "./retention.sql.ts";

export interface TrimMessagesOptions {
  readonly db: Queryer;
  readonly faults: Faults;
  readonly commandAgeMs?: number | undefined;
  readonly eventAgeMs?: number | undefined;
  /** Rows per statement. */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface TrimmedMessages {
  readonly commands: number;
  readonly events: number;
}

/** A few milliseconds of work per statement: nobody waits noticeably for a row it locks. */
const DEFAULT_LIMIT = 1000;

export const trimMessages = async (options: TrimMessagesOptions): Promise<TrimmedMessages> => {
  const { db, faults, signal, limit = DEFAULT_LIMIT } = options;

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
    commands: await trimAll(TRIM_COMMANDS, options.commandAgeMs ?? streamPlan("cmd").maxAgeSeconds * 1000),
    events: await trimAll(TRIM_EVENTS, options.eventAgeMs ?? streamPlan("evt").maxAgeSeconds * 1000),
  };
};
