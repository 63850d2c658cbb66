// What belongs to a trace: turns by an index, direct calls as calls/list-calls.sql.ts finds them, calls of turns by their turn.
// "offset 0" keeps a lookup a lookup: a plan made while there is nothing to find would read everything.

import type { Statement } from "../sql/database.ts";

/** With the turns that came of them. $1 project, $2 trace, $3 limit. */
export const FIND_TURNS: Statement = {
  name: "traces.find-turns",
  text: `
with recursive roots as (
  select agent_turn_id from state.turns where (project_id || ' ' || trace_id) = ($1::text || ' ' || $2::text)
),
family as (
  select agent_turn_id from roots
  union
  select t.agent_turn_id
    from family f
   cross join lateral (
     select x.agent_turn_id from state.turns x
      where x.parent_agent_turn_id = f.agent_turn_id and x.project_id = $1 offset 0) t
)
select agent_turn_id from family limit $3::int`,
};

/** $1 project, $2 turns. */
export const CALLS_OF_TURNS: Statement = {
  name: "traces.calls-of-turns",
  text: `
select c.tool_call_id
  from unnest($2::text[]) as t(agent_turn_id)
 cross join lateral (
   select l.tool_call_id from state.live_calls l
    where l.project_id = $1 and l.agent_turn_id = t.agent_turn_id and not l.headless
   union all
   select p.tool_call_id from state.past_calls p
    where p.project_id = $1 and p.agent_turn_id = t.agent_turn_id and not p.headless) c
 order by c.tool_call_id
 limit $3::int`,
};
