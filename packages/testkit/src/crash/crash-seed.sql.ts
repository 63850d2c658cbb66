// Agents in the middle of a turn, set up directly: what drives turns is not what a crash run tests.

export const SEED_AGENTS = `
insert into resource.agents (project_id, agent_id, profile_box_id, worker_target)
select $1, 'agent_' || n, 'box_none', $3 from generate_series(1, $2::int) n`;

export const SEED_HEADS = `
insert into state.heads (project_id, agent_id, status, active_agent_turn_id, active_channel_id, turn_epoch)
select $1, 'agent_' || n, 'running', 'turn_of_agent_' || n, 'public', 1 from generate_series(1, $2::int) n`;
