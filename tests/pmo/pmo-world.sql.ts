// What tests of the project manager ask the database directly.

/** Seconds until the next attempt, by task. $1 batch. */
export const NEXT_ATTEMPTS = `
select task_index, attempts, error, round(extract(epoch from next_attempt_at - now()))::int as seconds
  from state.batch_tasks where batch_id = $1 order by task_index`;

/** What delegation could have left behind. */
export const LEFT_BEHIND = `
select (select count(*)::int from resource.agents) as agents, (select count(*)::int from state.heads) as heads,
       (select count(*)::int from state.turns) as turns, (select count(*)::int from state.identity_edges) as identity_edges,
       (select count(*)::int from state.batches) as batches, (select count(*)::int from cards.boxes) as boxes,
       (select count(*)::int from state.edges) as edges`;

/** $1 agent. */
export const IDENTITY_EDGES = `
select action, source_agent_id, channel_id, parent_step_id, metadata from state.identity_edges where target_agent_id = $1 order by created_at`;

/** $1 agent. */
export const HEAD_OF = "select status, active_channel_id, turn_epoch::int from state.heads where agent_id = $1";

/** $1 correlation. */
export const JOIN_EDGES = `
select edge_phase, source_agent_id, target_agent_id, target_turn_id, recursion_depth from state.edges
 where primitive = 'join' and correlation_id = $1 order by edge_phase`;

/** Results a call has: cards, inbox rows, settlements. $1 call. */
export const RESULTS_OF = `
select (select count(*)::int from cards.cards where tool_call_id = $1 and type = 'tool.result') as cards,
       (select count(*)::int from state.inbox where correlation_id = $1 and message_type in ('tool_result', 'timeout')) as inbox,
       (select count(*)::int from state.calls where tool_call_id = $1 and settled_at is not null) as settled`;

/** Turns that a call's work made, by correlation. $1 part of it. */
export const TURNS_LIKE =
  "select correlation_id, status from state.turns where correlation_id like $1 order by correlation_id";

/** Task events per turn. */
export const TASK_EVENTS = `
select payload::jsonb ->> 'agent_turn_id' as agent_turn_id, count(*)::int as events
  from bus.events where subject like '%.task' group by 1`;

export const BATCH_ROWS = `
select (select count(*)::int from state.batches) as batches, (select count(*)::int from state.batch_tasks) as tasks,
       (select count(*)::int from state.edges where primitive = 'join') as edges`;

export const ROSTER_AND_HEADS = `
select (select count(*)::int from resource.agents) as agents, (select count(*)::int from state.heads) as heads,
       (select count(*)::int from state.identity_edges) as identity_edges`;

/** Turns and heads of agents that are not in the roster. */
export const WITHOUT_AGENT = `
select agent_id from state.turns t where not exists (select from resource.agents a where a.agent_id = t.agent_id)
union all
select agent_id from state.heads h where not exists (select from resource.agents a where a.agent_id = h.agent_id)`;

/** Its depth as it is stored, and as its command says. $1 call. */
export const COMMAND_DEPTHS =
  "select recursion_depth as depth, headers::json ->> 'CG-Recursion-Depth' as header from state.calls where tool_call_id = $1";
