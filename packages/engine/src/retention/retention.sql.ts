// Forgetting settled work. Ids sort by time, so the oldest calls of a project are the first keys of its range.

import type { Statement } from "../sql/database.ts";

// "offset 0" keeps the lookup of unreported results a lookup: a plan made while there are none would read all of them.
/**
 * Direct calls that settled long enough ago, with their cards, a bounded number at a time; what others hold is skipped.
 * $1 project, $2 no younger id than this, $3 seconds since settlement, $4 limit.
 */
export const FORGET_CALLS: Statement = {
  name: "retention.forget-calls",
  text: `
with old as materialized (
  select project_id, tool_call_id, call_card_id, result_card_id
    from state.calls
   where project_id = $1 and tool_call_id < $2 and headless and settled_at < now() - make_interval(secs => $3::double precision)
   order by project_id, tool_call_id
   limit $4
     for update skip locked
),
said as (
  delete from cards.cards k using (
    select project_id, call_card_id as card_id from old
    union all
    select project_id, result_card_id from old where result_card_id is not null
    union all
    select o.project_id, u.card_id from old o cross join lateral (
      select card_id from cards.cards
       where project_id = o.project_id and tool_call_id = o.tool_call_id and candidate offset 0) u) s
   where k.project_id = s.project_id and k.card_id = s.card_id
),
gone as (
  delete from state.calls c using old o where c.project_id = o.project_id and c.tool_call_id = o.tool_call_id
)
select count(*)::int as forgotten from old`,
};

/** $1 project, $2 no younger id than this, $3 seconds, $4 limit. */
export const FORGET_DEAD: Statement = {
  name: "retention.forget-dead",
  text: `
with old as materialized (
  select project_id, dead_letter_id from state.dead_letters
   where project_id = $1 and dead_letter_id < $2 and created_at < now() - make_interval(secs => $3::double precision)
   order by project_id, dead_letter_id
   limit $4
     for update skip locked
),
gone as (
  delete from state.dead_letters d using old o where d.project_id = o.project_id and d.dead_letter_id = o.dead_letter_id
)
select count(*)::int as forgotten from old`,
};

export const ALL_PROJECTS: Statement = {
  name: "retention.projects",
  text: "select project_id from resource.projects order by project_id",
};
