// Which projects have work for a target. Only queued calls are in the index that this walks, and it jumps from project to
// project instead of reading their calls. So it costs as much as there are projects with queued calls, and nothing when none has
// any. The inner limit makes it one lookup per project, in their order: an EXISTS would become a join that reads all queued
// calls first. The inner order names the index: by the primary key it would have to sort.

import type { Statement } from "../sql/database.ts";

/** $1 target, $2 after this project, $3 how many. */
export const PROJECTS_WITH_WORK: Statement = {
  name: "calls.projects-with-work",
  text: `
with recursive busy as (
  (select project_id from state.live_calls where status = 'queued' and project_id > $2::text order by project_id limit 1)
  union all
  select (select c.project_id from state.live_calls c
           where c.status = 'queued' and c.project_id > b.project_id order by c.project_id limit 1)
    from busy b where b.project_id is not null
)
select b.project_id
  from busy b
 cross join lateral (
   select from state.live_calls c
    where c.project_id = b.project_id and c.target = $1::text and c.status = 'queued'
      and c.available_at <= now() and c.queue_deadline > now()
    order by c.session, c.available_at, c.tool_call_id
    limit 1) w
 where b.project_id is not null
 limit $3::int`,
};
