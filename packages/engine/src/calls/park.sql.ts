// The lease as a lock: a run holds the row of its call while it writes for the call.

import type { Statement } from "../sql/database.ts";
import { IS_ENDED, keepLeases } from "./ended-leases.sql.ts";

/** $1 project, $2 call. The lock makes runs of one call wait for each other, and a settlement for the run. */
export const HOLD_CALL: Statement = {
  name: "calls.hold",
  text: `
select status, lease_id, recursion_depth
  from state.live_calls
 where project_id = $1 and tool_call_id = $2
   for update`,
};

/** $1 project, $2 call, $3 lease, $4 new lease, $5 new holder, $6 seconds. */
export const PARK_CALL: Statement = {
  name: "calls.park",
  text: `
with ended as materialized (
  select * from state.live_calls
   where project_id = $1 and tool_call_id = $2 and lease_id = $3 and status = 'running'
     for update
),
kept as (${keepLeases("handed_on")}
)
update state.live_calls c
   set lease_id = $4, lease_holder = $5, lease_expires_at = now() + make_interval(secs => $6::double precision),
       run_deadline = now() + make_interval(secs => $6::double precision),
       due_at = now() + make_interval(secs => $6::double precision)
  from ended e
 where ${IS_ENDED}
returning c.tool_call_id`,
};
