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
