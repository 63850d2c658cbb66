// The leases of a call: which service held it, from when to when, and how that ended. The leases that ended before the call are rows of their own
// (ended-leases.sql.ts); the last one is what the call's row says.

import type { Queryer } from "../sql/database.ts";
import type { CallView } from "./call.ts";
import { type LeaseEnd, READ_LEASES } from "./ended-leases.sql.ts";

export interface CallLease {
  /** The number of the run; what was given back before it started does not count, so that the next lease has the same number. */
  readonly attempt: number;
  readonly holder: string | null;
  readonly startedAt: Date | null;
  /** Null while it is held. */
  readonly endedAt: Date | null;
  /** `settled`: its result stands; `canceled`, `timed_out`: the call ended under it; the others: the call went on without it. */
  readonly ended: LeaseEnd | "settled" | "canceled" | "timed_out" | null;
  /** Why it failed, when it was tried again. */
  readonly errorCode: string | null;
}

interface LeaseRow {
  readonly attempt: number;
  readonly holder: string | null;
  readonly started_at: Date | null;
  readonly ended_at: Date;
  readonly ended: LeaseEnd;
  readonly error_code: string | null;
}

const leaseOf = (row: LeaseRow): CallLease => ({
  attempt: row.attempt,
  holder: row.holder,
  startedAt: row.started_at,
  endedAt: row.ended_at,
  ended: row.ended,
  errorCode: row.error_code,
});

/** The holder stopped answering, and the call was not tried again. */
const LOST: ReadonlySet<string> = new Set(["outcome_unknown", "upstream_unavailable"]);

const endOf = (view: CallView): CallLease["ended"] => {
  if (view.settledAt === null) return null;
  if (view.settledBy === view.actorId) return "settled";
  if (view.status === "canceled") return "canceled";
  if (view.status === "timeout") return "timed_out";
  return LOST.has(view.errorCode ?? "") ? "lapsed" : "settled";
};

/** All of them, the first lease first. Pure. */
const planLeases = (view: CallView, ended: readonly CallLease[]): readonly CallLease[] => {
  const { leaseId, attempts, leaseHolder, startedAt, settledAt } = view;
  if (leaseId === null || leaseHolder === null) return ended;
  // The work was begun by the holder that handed it on.
  const before = ended.at(-1);
  const since = before?.ended === "handed_on" ? before.endedAt : startedAt;
  return [
    ...ended,
    {
      attempt: attempts,
      holder: leaseHolder,
      startedAt: since,
      endedAt: settledAt,
      ended: endOf(view),
      errorCode: view.errorCode,
    },
  ];
};

export const readLeases = async (db: Queryer, view: CallView): Promise<readonly CallLease[]> => {
  const rows = await db.query<LeaseRow>(READ_LEASES, [view.projectId, view.toolCallId]);
  return planLeases(view, rows.map(leaseOf));
};
