// Leases that end before their call does. Each is written down as part of the call's history, and the call is told to be tried
// again. The rows of `ended` are calls as they were under the lease, locked before: columns of state.live_calls, and an `ord`.

import type { Statement } from "../sql/database.ts";
import { tellOf } from "./call-events.sql.ts";

/** How it ended: its holder vanished, gave the call back before it started, handed it to a batch, or failed and is tried again. */
export type LeaseEnd = "lapsed" | "released" | "handed_on" | "failed";

/** The same lease is written once, however often it is asked for. */
export const keepLeases = (how: LeaseEnd): string => `
  insert into state.call_leases (project_id, tool_call_id, lease_id, attempt, holder, started_at, ended)
  select project_id, tool_call_id, lease_id, attempts, lease_holder, started_at, '${how}'
    from ended
   where lease_id is not null
  on conflict do nothing`;

/**
 * So many leases that were given back are kept of one call, so a service that gives it back in a loop does not fill the table. The new one, which the
 * same statement writes, is among them.
 */
const MOST_RELEASED = 20;

/** Common table beside the one that keeps the leases of calls that are given back: older ones of the same call are dropped. */
export const DROP_RELEASED = `
dropped as (
  delete from state.call_leases l
   using ended e
   cross join lateral (
     select x.lease_id from state.call_leases x
      where x.project_id = e.project_id and x.tool_call_id = e.tool_call_id and x.ended = 'released'
      order by x.ended_at desc offset ${MOST_RELEASED - 1}) old
   where l.project_id = any (array[e.project_id]) and l.tool_call_id = e.tool_call_id and l.lease_id = old.lease_id
)`;

/** By its key, not by its place: a heartbeat that came a moment before has moved the row. */
export const IS_ENDED =
  "c.project_id = any (array[e.project_id]) and c.tool_call_id = e.tool_call_id and c.lease_id = e.lease_id";

export const TELL_RETRIED = tellOf("ended c", "c", [{ phase: "retried", status: "'queued'", attempt: "c.attempts" }]);

/** $1 project, $2 call. */
export const READ_LEASES: Statement = {
  name: "calls.read-leases",
  text: `
select attempt, holder, started_at, ended_at, ended, error_code
  from state.call_leases
 where project_id = $1 and tool_call_id = $2
 order by ended_at, lease_id`,
};
