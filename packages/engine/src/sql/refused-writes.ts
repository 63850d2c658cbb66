// Whether the database accepts writes. A server with a full disk, or one that has become a read-only copy, answers every
// question and stores nothing: only a refused statement shows it.
//   The state lasts until that statement succeeds, or for a while after the last refusal: clients that hear that we cannot store
//   send nothing more, so nothing would ever succeed.
//   A statement in several forms has one name before a slash ("calls.dispatch-fresh", "calls.dispatch-fresh/queued"): one form succeeds for all.

import type { Clock } from "../ports/clock.ts";

export interface RefusedWrites {
  failed(statement: string, error: unknown): void;
  succeeded(statement: string): void;
  /** True when the last write was refused. */
  refusing(): boolean;
}

/** disk_full, io_error, read_only_sql_transaction: another attempt at once will not pass. */
const REFUSALS: ReadonlySet<unknown> = new Set(["53100", "58030", "25006"]);
/** Watchdogs and callers try again within seconds, and so refresh it while it is true. */
const COUNTS_MS = 15_000;

const formless = (statement: string): string => statement.split("/")[0] ?? statement;

export const createRefusedWrites = (clock: Clock): RefusedWrites => {
  let refused: { readonly statement: string; readonly at: number } | undefined;
  return {
    failed(statement, error) {
      const { code } = (error ?? {}) as { readonly code?: unknown };
      if (REFUSALS.has(code)) refused = { statement: formless(statement), at: clock.now() };
    },
    succeeded(statement) {
      if (refused !== undefined && refused.statement === formless(statement)) refused = undefined;
    },
    // Ages never go below zero, even when the system clock is set back.
    refusing: () => refused !== undefined && Math.abs(clock.now() - refused.at) < COUNTS_MS,
  };
};
