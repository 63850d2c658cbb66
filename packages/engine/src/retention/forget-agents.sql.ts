// Deletes agents that were made for one task, with their heads and the edges that say who made them. Such an agent is deleted
// when nothing is left of its work: its turns and its batch were deleted before it. Without them it is an empty name; the same
// profile makes a new agent.
//   An agent stays if a person or a configuration provisioned it by its id, or if it owns agents, or has a token, a turn, a row
//   in its inbox or an open call of its own.
//   Two statements of one transaction: the first holds agent and head, the second checks again. A turn is spawned under the lock
//   of its agent's head, so a spawn is either seen by the second check, or finds no agent any more.

import type { Statement } from "../sql/database.ts";

// "offset 0" keeps lookups lookups: a plan made while there is nothing to find would read everything.
/** Nothing of agent `a` is left. $1 project. */
const NOTHING_LEFT = `
       not exists (select from state.turns t where t.agent_id = a.agent_id and t.project_id = $1 offset 0)
   and not exists (select from state.inbox r where r.project_id = $1 and r.agent_id = a.agent_id and r.status = 'queued' offset 0)
   and not exists (select from state.inbox r
                    where r.project_id = $1 and r.agent_id = a.agent_id and r.archived_at is null and r.status <> 'queued' offset 0)
   and not exists (select from resource.agents o where o.owner_agent_id = a.agent_id and o.project_id = $1 offset 0)
   and not exists (select from resource.tokens k where k.actor_id = a.agent_id and k.project_id = $1 and k.revoked_at is null
                      and (k.expires_at is null or k.expires_at > now()) offset 0)
   and not exists (
     select from (select metadata from state.identity_edges e where e.project_id = $1 and e.edge_id = a.made_for offset 0) e
      cross join lateral (
        select from state.batches b where b.project_id = $1 and b.batch_id = e.metadata ->> 'batch_id' offset 0) b)`;

export interface LookedAgentRow {
  readonly agent_id: string;
  /** As text: a Date has no microseconds. */
  readonly created_at: string;
  /** Held, and to be looked at again. */
  readonly held: boolean;
}

/**
 * The next so many agents that were made for tasks; those of which nothing is left are held with their heads. Rows that others
 * hold are left to the next run.
 * $1 project, $2 seconds since they were made, $3 and $4 made before this moment, and agent, or null for the youngest, $5 limit.
 */
export const HOLD_TASK_AGENTS: Statement = {
  name: "retention.hold-task-agents",
  text: `
with looked as materialized (
  select agent_id, created_at, made_for
    from resource.agents
   where project_id = $1 and made_for is not null and created_at < now() - make_interval(secs => $2::double precision)
     and ($3::timestamptz is null or (created_at, agent_id) < ($3::timestamptz, $4))
   order by project_id desc, created_at desc, agent_id desc
   limit $5::int
),
held as materialized (
  select h.agent_id
    from looked a
   cross join lateral (
     select x.agent_id from resource.agents x where x.project_id = $1 and x.agent_id = a.agent_id for update skip locked) w
   cross join lateral (
     select x.agent_id from state.heads x
      where x.project_id = $1 and x.agent_id = w.agent_id and x.status = 'idle' for update skip locked) h
   where ${NOTHING_LEFT}
)
select l.agent_id, l.created_at::text as created_at, (l.agent_id in (select agent_id from held)) is true as held
  from looked l
 order by l.created_at desc, l.agent_id desc`,
};

/** Of the held agents, deletes those of which nothing is left. $1 project, $2 agents. */
export const FORGET_TASK_AGENTS: Statement = {
  name: "retention.forget-task-agents",
  text: `
with calling as materialized (
  select distinct agent_id from state.live_calls
   where project_id = $1 and agent_id = any ($2::text[])
),
old as materialized (
  select a.project_id, a.agent_id, a.made_for
    from unnest($2::text[]) as i (agent_id)
   cross join lateral (
     select project_id, agent_id, made_for from resource.agents x
      where x.project_id = $1 and x.agent_id = i.agent_id and x.made_for is not null offset 0) a
   where (a.agent_id in (select agent_id from calling)) is not true and ${NOTHING_LEFT}
),
unmade as (
  delete from state.identity_edges e using old o where e.project_id = any (array[o.project_id]) and e.edge_id = o.made_for
),
headless as (
  delete from state.heads h using old o where h.project_id = any (array[o.project_id]) and h.agent_id = o.agent_id
),
gone as (
  delete from resource.agents a using old o where a.project_id = any (array[o.project_id]) and a.agent_id = o.agent_id
)
select count(*)::int as forgotten from old`,
};
