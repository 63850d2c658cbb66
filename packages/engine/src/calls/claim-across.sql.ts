// Which projects have work for a target. Only queued calls are in the index that this walks, and it jumps from project to
// project instead of reading their calls. So it costs as much as there are projects with queued calls, and nothing when none has
// any. The inner limit makes it one lookup per project, in their order: an EXISTS would become a join that reads all queued
// calls first. The inner order names the index: by the primary key it would have to sort. Pinned calls, calls of sessions and limited
// calls stand in indexes of their own and are looked for there.

import type { Statement } from "../sql/database.ts";

// Each spelt as the condition of its index, and with its first column behind the target: the planner takes a partial index only then.
const LINES = [
  { name: "busy", which: "c.session is null and c.pin is null and c.gate is null", order: "c.lane" },
  { name: "pinned", which: "c.session is null and c.pin is not null and c.gate is null", order: "c.pin" },
  { name: "in_sessions", which: "c.session is not null", order: "c.session" },
  { name: "gated", which: "c.gate is not null", order: "c.gate" },
] as const;

const walk = ({ name, which }: (typeof LINES)[number]): string => `${name} as (
  (select c.project_id from state.live_calls c
    where c.status = 'queued' and ${which} and c.project_id > $2::text order by c.project_id limit 1)
  union all
  select (select c.project_id from state.live_calls c
           where c.status = 'queued' and ${which} and c.project_id > b.project_id order by c.project_id limit 1)
    from ${name} b where b.project_id is not null
)`;

const withWork = ({ name, which, order }: (typeof LINES)[number]): string => `
(select b.project_id
  from ${name} b
 cross join lateral (
   select from state.live_calls c
    where c.project_id = b.project_id and c.target = $1::text and c.status = 'queued' and ${which}
      and c.available_at <= now() and c.queue_deadline > now()
    order by ${order}, c.available_at, c.tool_call_id
    limit 1) w
 where b.project_id is not null
 limit $3::int)`;

/** $1 target, $2 after this project, $3 how many. */
export const PROJECTS_WITH_WORK: Statement = {
  name: "calls.projects-with-work",
  text: `
with recursive ${LINES.map(walk).join(",\n")}
select project_id from (${LINES.map(withWork).join("\nunion")}) found
 order by project_id
 limit $3::int`,
};
