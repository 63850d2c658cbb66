// Where a call stands in the queue of its target: how many run, how many are offered before it. For people who look.

import type { Statement } from "../sql/database.ts";

export interface QueuePlace {
  readonly running: number;
  readonly ahead: number;
}

/** More than a person wants to know; it keeps the count quick where many wait. */
const COUNT_LIMIT = 10_000;

/** $1 project, $2 target, $3 call. Calls that are pinned to a definition and limited calls stand in lines of their own and are not counted. */
export const READ_QUEUE_PLACE: Statement = {
  name: "calls.read-queue-place",
  text: `
with own as (
  select available_at, tool_call_id from state.live_calls where project_id = $1 and tool_call_id = $3
)
select (select count(*)::int
          from (select 1 from state.live_calls
                 where project_id = $1 and target = $2 and status = 'running' limit ${COUNT_LIMIT}) r) as running,
       (select count(*)::int
          from (select 1
                  from own
                  join state.live_calls c on c.project_id = $1 and c.target = $2 and c.status = 'queued' and c.pin is null and c.session is null
                   and c.gate is null and (c.available_at, c.tool_call_id) < (own.available_at, own.tool_call_id)
                union all
                select 1
                  from own
                  join state.live_calls c on c.project_id = $1 and c.target = $2 and c.status = 'queued' and c.session is not null
                   and (c.available_at, c.tool_call_id) < (own.available_at, own.tool_call_id)
                 limit ${COUNT_LIMIT}) a) as ahead`,
};
