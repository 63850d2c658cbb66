// Deletes settled work. Ids sort by time, so the oldest calls of a project are the first keys of its range.

import { leaveTombstones } from "../history/tombstones.sql.ts";
import type { Statement } from "../sql/database.ts";

// "offset 0" keeps the lookup of unreported results a lookup: a plan made while there are none would read all of them.
/**
 * Looks at the next so many calls of a project and forgets the direct ones that settled long enough ago, with their
 * cards and the decisions about them; a tombstone says where their chains ended. Rows that other transactions hold are skipped. Calls of
 * agents' turns are skipped too but count toward the limit, so a statement stays short in a project that has little else.
 * $1 project, $2 no younger id than this, $3 seconds since settlement, $4 limit, $5 after this id.
 */
export const FORGET_CALLS: Statement = {
  name: "retention.forget-calls",
  text: `
with looked as materialized (
  select tool_call_id, headless
    from state.past_calls
   where project_id = $1 and tool_call_id > $5 and tool_call_id < $2
   order by project_id, tool_call_id
   limit $4
),
old as materialized (
  select c.*
    from looked l
   cross join lateral (
     select project_id, tool_call_id, call_card_id, result_card_id, agent_id, tool_name, idempotency_key, agent_turn_id, settled_at,
            chain_hash, result_chain_hash, result_chain_seq
       from state.past_calls
      where project_id = $1 and tool_call_id = l.tool_call_id and headless
        and settled_at < now() - make_interval(secs => $3::double precision)
        for update skip locked) c
   where l.headless
),
said as (
  delete from cards.cards k using (
    select project_id, agent_turn_id, call_card_id as card_id from old
    union all
    select project_id, agent_turn_id, result_card_id from old where result_card_id is not null
    union all
    select project_id, agent_turn_id, 'approval_' || tool_call_id from old
    union all
    select o.project_id, o.agent_turn_id, u.card_id from old o cross join lateral (
      select card_id from cards.cards
       where project_id = o.project_id and tool_call_id = o.tool_call_id and candidate offset 0) u) s
   where k.project_id = any (array[s.project_id]) and k.card_id = s.card_id
  returning s.agent_turn_id
),
left_behind as (${leaveTombstones({
    chainHash: "coalesce(result_chain_hash, chain_hash)",
    links: "coalesce(result_chain_seq, 1)",
    endedAt: "settled_at",
  })}
),
unkeyed as (
  delete from state.call_keys k using old o
   where k.project_id = any (array[o.project_id]) and k.agent_id = o.agent_id and k.tool_name = o.tool_name
     and k.idempotency_key = o.idempotency_key
),
undiagnosed as (
  delete from state.call_diagnostics d using old o where d.project_id = any (array[o.project_id]) and d.tool_call_id = o.tool_call_id
),
unheld as (
  delete from state.call_leases l using old o where l.project_id = any (array[o.project_id]) and l.tool_call_id = o.tool_call_id
),
gone as (
  delete from state.past_calls c using old o where c.project_id = any (array[o.project_id]) and c.tool_call_id = o.tool_call_id
)
select (select count(*) from old)::int as forgotten, (select count(*) from looked)::int as looked,
       (select max(tool_call_id) from looked) as last,
       least((select min(tool_call_id) from looked where headless and (tool_call_id in (select tool_call_id from old)) is not true),
             (select min(tool_call_id) from state.live_calls
               where project_id = $1 and tool_call_id > $5 and tool_call_id <= (select max(tool_call_id) from looked) and headless)) as kept`,
};

export interface ForgottenRow {
  readonly forgotten: number;
  readonly looked: number;
  /** The last id that was looked at; null when there was none. */
  readonly last: string | null;
  /** The first direct call up to there that was left: open, settled too recently, or held by another transaction. */
  readonly kept: string | null;
}

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
  delete from state.dead_letters d using old o where d.project_id = any (array[o.project_id]) and d.dead_letter_id = o.dead_letter_id
)
select count(*)::int as forgotten from old`,
};

export const ALL_PROJECTS: Statement = {
  name: "retention.projects",
  text: "select project_id from resource.projects order by project_id",
};
