// Taking calls: what a claiming statement took, as leased calls, whatever became of its answer.
//   When the answer of a claim was lost (the connection broke around the commit), its calls are found by the lease id, or given
//   back, so that an unsafe call that was never started does not end as outcome_unknown.

import { type CommandPayload, isRecord, isToolplaneError, type JsonObject } from "@toolplane/protocol";
import type { CallObserver } from "../ports/call-observer.ts";
import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Faults } from "../ports/faults.ts";
import type { Database } from "../sql/database.ts";
import type { CallFacts, CallKey } from "./call.ts";
import { RECALL } from "./lease.sql.ts";
import { type FactRow, factsOf } from "./read.sql.ts";

export interface LeasedCall {
  readonly facts: CallFacts;
  readonly lease: { readonly id: string; readonly expiresAt: Date };
  readonly attempt: number;
  readonly runDeadline: Date;
  /** The tool.call card, canonical text. */
  readonly cardBody: string;
  /** The state that the last call of its session left; undefined at the beginning of a session, and without one. */
  readonly session: JsonObject | undefined;
  /** Each start takes a token of the tool's rate: the service runs the tool once under this lease. */
  readonly once: boolean;
  readonly command: {
    readonly subject: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly payload: CommandPayload;
  };
}

export interface LeasedRow extends FactRow {
  readonly ord: number;
  readonly attempts: number;
  readonly lease_id: string;
  readonly lease_expires_at: Date;
  readonly run_deadline: Date;
  /** Null when the claim has taken enough bytes before it. */
  readonly card_body: string | null;
  readonly session_state: string | null;
  /** Among how many lanes its claim was shared. */
  readonly lanes: number;
  readonly lane: string;
  /** Its tool has a rate. */
  readonly rated: boolean;
}

export interface TakeDeps {
  readonly db: Database;
  readonly doorbell: Doorbell;
  readonly faults: Faults;
  readonly clock: Clock;
  readonly observe: CallObserver;
  readonly remember: (leased: LeasedCall) => void;
  /** The calls of these leases were never handed to a service. */
  readonly giveBack: (leaseIds: readonly string[]) => void;
  /** Like `giveBack`, for one call of a claim. */
  readonly release: (held: CallKey & { readonly leaseId: string }) => void;
}

export interface TakeCalls {
  /** Runs the claim. If its answer is lost, asks which calls it took; if that fails too, gives them back. */
  take(claiming: () => Promise<readonly LeasedRow[]>, leaseIds: readonly string[]): Promise<readonly LeasedRow[]>;
  /** The calls of each request, for `count` requests. */
  deal(rows: readonly LeasedRow[], count: number): LeasedCall[][];
}

/** A row without a call says what else waits. */
export const isCall = (row: LeasedRow): boolean => row.tool_call_id !== null;

/** A lease, and the command made from the call's facts. */
export const leasedCall = (leased: Omit<LeasedCall, "command">): LeasedCall => {
  const { subject, headers, callCardId, toolName, afterExecution } = leased.facts;
  const payload = { tool_call_card_id: callCardId, tool_name: toolName, after_execution: afterExecution };
  return { ...leased, command: { subject, headers, payload } };
};

export const leasedOf = (row: LeasedRow): LeasedCall =>
  leasedCall({
    facts: factsOf(row),
    lease: { id: row.lease_id, expiresAt: row.lease_expires_at },
    attempt: row.attempts,
    runDeadline: row.run_deadline,
    cardBody: row.card_body ?? "",
    session: row.session_state === null ? undefined : (JSON.parse(row.session_state) as JsonObject),
    once: row.rated,
  });

/** The index that keeps a session's calls apart. Two statements at one moment are rare, twice in a row very rare. */
const SESSION_INDEX = "live_calls_session_running";
const MAX_RACES = 5;
const RACE_PAUSE_MS = 5;

const isSessionRace = (error: unknown): boolean =>
  isToolplaneError(error) && isRecord(error.detail) && error.detail.constraint === SESSION_INDEX;

export const createTakeCalls = (deps: TakeDeps): TakeCalls => {
  const { db, faults } = deps;

  /** Claims, again when another claim took a call of the same session at the same moment: nothing was taken. */
  const run = async (claiming: () => Promise<readonly LeasedRow[]>): Promise<readonly LeasedRow[]> => {
    for (let races = 1; ; races++) {
      try {
        return await claiming();
      } catch (error) {
        if (!isSessionRace(error) || races >= MAX_RACES) throw error;
        // The server reports it before it has released the rows, which the next try would skip.
        await deps.clock.sleep(RACE_PAUSE_MS * races);
      }
    }
  };

  return {
    async take(claiming, leaseIds) {
      await faults.at("lease:before-commit");
      let rows: readonly LeasedRow[];
      try {
        rows = await run(claiming);
      } catch (error) {
        if (isSessionRace(error)) throw error;
        rows = await db.query<LeasedRow>(RECALL, [leaseIds]).catch(() => []);
        if (rows.length === 0) {
          deps.giveBack(leaseIds);
          throw error;
        }
      }
      await faults.at("lease:after-commit");
      if (rows.some(isCall)) deps.doorbell.ring("events", "here");
      return rows;
    },

    deal(rows, count) {
      const perItem = Array.from({ length: count }, (): LeasedCall[] => []);
      for (const row of rows.filter(isCall)) {
        const call = leasedOf(row);
        if (row.card_body === null) {
          deps.release({ projectId: row.project_id, toolCallId: row.tool_call_id, leaseId: row.lease_id });
          continue;
        }
        deps.remember(call);
        deps.observe({ ...call.facts, status: "running" });
        perItem[row.ord - 1]?.push(call);
      }
      return perItem;
    },
  };
};
