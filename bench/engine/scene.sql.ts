// Heads for agents whose steps are measured: one step each, so nothing has to be put back while the clock runs.

/** $1 project, $2 how many, $3 the pool that is rung. */
export const MAKE_AGENTS = `
with named as (select 'agent_' || lpad(n::text, 6, '0') as agent_id from generate_series(1, $2::int) n),
listed as (
  insert into resource.agents (project_id, agent_id, worker_target) select $1, agent_id, $3 from named on conflict do nothing
)
insert into state.heads (project_id, agent_id, status, active_agent_turn_id, active_channel_id, turn_epoch)
select $1, agent_id, 'running', 'turn_' || agent_id, 'public', 1 from named on conflict do nothing`;

/** Suspended heads back to running, what was rung for them taken away: roughly what resuming a turn does. $1 project. */
export const RESUME_HEADS = `
with consumed as (delete from state.inbox where project_id = $1),
heard as (delete from bus.messages where project_id = $1)
update state.heads set status = 'running', waiting_tool_count = 0 where project_id = $1 and status = 'suspended'`;

export const TIDY = ["state.heads", "state.inbox", "bus.messages"].map((table) => `vacuum ${table}`);

export const FIND_PROJECT = "select 1 from resource.projects where project_id = $1";
