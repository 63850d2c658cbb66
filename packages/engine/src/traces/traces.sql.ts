// What belongs to a trace. No index has the trace id: it would cost every call, and a trace is looked at rarely. Ids sort by time,
// and a trace id that the plane made says when it was made, so a span of ids is searched. A trace id of a caller says nothing: then
// the newest rows are searched. "offset 0" keeps a lookup a lookup: a plan made while there is nothing to find would read everything.

import type { Statement } from "../sql/database.ts";

/** $1 project, $2 trace, $3 and $4 the span of turn ids, $5 how many are looked at, newest first. */
export const FIND_TURNS: Statement = {
  name: "traces.find-turns",
  text: `
with recursive roots as (
  select t.agent_turn_id
    from (select agent_turn_id, trace_id from state.turns
           where project_id = $1 and agent_turn_id >= $3::text and agent_turn_id < $4::text
           order by project_id desc, agent_turn_id desc
           limit $5::int) t
   where t.trace_id = $2
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
select agent_turn_id from family limit $6::int`,
};

const DIRECT = "project_id = $1 and headless and tool_call_id >= $3::text and tool_call_id < $4::text";

/** Calls without a turn of an agent. $1 project, $2 trace, $3 and $4 the span of call ids, $5 how many are looked at. */
export const FIND_CALLS: Statement = {
  name: "traces.find-calls",
  text: `
select tool_call_id from (
  (select tool_call_id, trace_id from state.live_calls where ${DIRECT} order by project_id desc, tool_call_id desc limit $5::int)
  union all
  (select tool_call_id, trace_id from state.past_calls where ${DIRECT} order by project_id desc, tool_call_id desc limit $5::int)
) c
 where c.trace_id = $2
 order by tool_call_id
 limit $6::int`,
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
