// Agents of one pool with one profile, all at once.

/** $1 project, $2 how many, $3 the pool that is rung. */
export const SEED_AGENTS = `
with profile as (insert into cards.boxes (project_id, box_id) values ($1, 'box_profile'))
insert into resource.agents (project_id, agent_id, profile_box_id, worker_target)
select $1, 'agent_' || n, 'box_profile', $3 from generate_series(1, $2::int) n`;
