// Statements of delegation: reading the agents concerned, and making new ones.

import type { JsonObject } from "@toolplane/protocol";
import type { RosterStatus } from "@toolplane/protocol/registry";
import { given, inputOf } from "../sql/columns.sql.ts";
import type { Statement } from "../sql/database.ts";

export interface PartyRow {
  readonly agent_id: string;
  readonly profile_box_id: string | null;
  readonly worker_target: string;
  readonly tags: readonly string[];
  readonly display_name: string | null;
  readonly owner_agent_id: string | null;
  readonly status: RosterStatus;
  readonly metadata: JsonObject;
  readonly head_profile_box_id: string | null;
  readonly context_box_id: string | null;
  readonly output_box_id: string | null;
  readonly last_output_box_id: string | null;
}

// Here and below "offset 0" makes each question a lookup by its whole key: a plan made while the tables are empty could read all
// rows of the project.
/** $1 project, $2 agents. */
export const READ_PARTIES: Statement = {
  name: "delegation.read-parties",
  text: `
select a.agent_id, a.profile_box_id, a.worker_target, a.tags, a.display_name, a.owner_agent_id, a.status, a.metadata,
       h.profile_box_id as head_profile_box_id, h.context_box_id, h.output_box_id, h.last_output_box_id
  from unnest($2::text[]) as i (agent_id)
 cross join lateral (select * from resource.agents x where x.project_id = $1 and x.agent_id = i.agent_id offset 0) a
  left join lateral (select * from state.heads x where x.project_id = $1 and x.agent_id = i.agent_id offset 0) h on true`,
};

/** $1 project, $2 folded names. */
export const READ_NAMED_PROFILES: Statement = {
  name: "delegation.read-named-profiles",
  text: `
select p.name_key, p.profile_box_id
  from unnest($2::text[]) as i (name_key)
 cross join lateral (
   select name_key, profile_box_id from resource.profiles x where x.project_id = $1 and x.name_key = i.name_key offset 0) p`,
};

/** The profile card is the last one of its box. $1 project, $2 boxes. */
export const READ_PROFILE_BOXES: Statement = {
  name: "delegation.read-profile-boxes",
  text: `
select b.box_id, k.body
  from unnest($2::text[]) as i (box_id)
 cross join lateral (select box_id, length from cards.boxes x where x.project_id = $1 and x.box_id = i.box_id offset 0) b
 cross join lateral (
   select card_id from cards.box_cards x where x.project_id = $1 and x.box_id = b.box_id and x.position = b.length - 1 offset 0) c
 cross join lateral (select type, body from cards.cards x where x.project_id = $1 and x.card_id = c.card_id offset 0) k
 where k.type = 'sys.profile'`,
};

/** $1 project, $2 boxes. */
export const READ_EXISTING_BOXES: Statement = {
  name: "delegation.read-existing-boxes",
  text: `
select b.box_id
  from unnest($2::text[]) as i (box_id)
 cross join lateral (select box_id from cards.boxes x where x.project_id = $1 and x.box_id = i.box_id offset 0) b`,
};

/**
 * The output box that an existing agent continues with: its last one, unless an open turn writes into it. The head is locked, so
 * that two requests for one idle agent do not choose the same box. $1 project, $2 agent.
 */
export const CHOOSE_OUTPUT_BOX: Statement = {
  name: "delegation.choose-output-box",
  text: `
with head as materialized (
  select project_id, coalesce(last_output_box_id, output_box_id) as box_id
    from state.heads
   where project_id = $1 and agent_id = $2
     for update
)
select h.box_id
  from head h
 cross join lateral (select from cards.boxes x where x.project_id = h.project_id and x.box_id = h.box_id offset 0) b
 where not exists (
   select from state.turns t where t.project_id = h.project_id and t.output_box_id = h.box_id and t.ended_at is null offset 0)`,
};

const agents = inputOf({
  projectId: given<string>("text"),
  agentId: given<string>("text"),
  profileBoxId: given<string>("text"),
  workerTarget: given<string>("text"),
  /** A JSON array as text: unnest would flatten an array of arrays. */
  tags: given<string>("text"),
  displayName: given<string | null>("text"),
  ownerAgentId: given<string | null>("text"),
  metadata: given<string>("text"),
  edgeId: given<string>("text"),
  action: given<string>("text"),
  sourceAgentId: given<string>("text"),
  channelId: given<string>("text"),
  activeChannelId: given<string | null>("text"),
  traceId: given<string | null>("text"),
  parentStepId: given<string | null>("text"),
  edgeMetadata: given<string>("text"),
  forTask: given<boolean>("boolean"),
  depth: given<number>("integer"),
});

/** Roster row, identity edge and idle head of each. An existing agent only gets its display name and metadata. */
export const WRITE_AGENTS: Statement = {
  name: "delegation.write-agents",
  text: `
with input as materialized (select * from ${agents.from}),
rostered as (
  insert into resource.agents (project_id, agent_id, profile_box_id, worker_target, tags, display_name, owner_agent_id, metadata,
                               made_for, depth)
  select project_id, agent_id, profile_box_id, worker_target, array(select json_array_elements_text(tags::json)), display_name,
         owner_agent_id, metadata::jsonb, case when for_task then edge_id end, depth
    from input
      on conflict (project_id, agent_id) do update
     set display_name = excluded.display_name, metadata = excluded.metadata, updated_at = now()
),
headed as (
  insert into state.heads (project_id, agent_id, active_channel_id)
  select project_id, agent_id, active_channel_id from input
      on conflict do nothing
)
insert into state.identity_edges (project_id, edge_id, channel_id, action, source_agent_id, target_agent_id, trace_id, parent_step_id, metadata)
select project_id, edge_id, channel_id, action, source_agent_id, agent_id, trace_id, parent_step_id, edge_metadata::jsonb from input
    on conflict do nothing`,
};

export const bindAgents = agents.bind;

/** $1 project, $2 edge. */
export const HAS_IDENTITY_EDGE: Statement = {
  name: "delegation.has-identity-edge",
  text: "select target_agent_id from state.identity_edges where project_id = $1 and edge_id = $2",
};

export interface SpawnedRow {
  readonly agent_id: string;
  readonly agent_turn_id: string;
  readonly turn_epoch: string | null;
  readonly context_box_id: string;
  readonly output_box_id: string;
}

// A correlation names one turn of a project, and hardly one of another: the project is compared after it was found.
/**
 * The turn a correlation made; its epoch while it is the head's, or once it has ended. Others may choose the same
 * correlation: what they asked for is not the project manager's. $1 project, $2 correlation, $3 who asked for it.
 */
export const READ_SPAWNED: Statement = {
  name: "delegation.read-spawned",
  text: `
select t.agent_id, t.agent_turn_id, t.context_box_id, t.output_box_id,
       case when t.status = 'active' then h.turn_epoch when t.ended_at is not null then t.turn_epoch end as turn_epoch
  from state.turns t
  left join lateral (
    select turn_epoch, active_agent_turn_id from state.heads x where x.project_id = $1 and x.agent_id = t.agent_id offset 0) h
    on h.active_agent_turn_id = t.agent_turn_id
 where t.project_id || '' = $1 and t.correlation_id = $2 and t.source_agent_id = $3`,
};

// The condition on the project is written so that tasks are found by the index of those that wait: by their key, all tasks of the project
// that are kept would be read.
/**
 * Turns that agents gave to others and that have not ended, and tasks of batches that wait to become such turns, up to the limit of the
 * project. $1 project, $2 the limit where it has none.
 */
export const COUNT_DELEGATED: Statement = {
  name: "delegation.count-open",
  text: `
select m.most, (select count(*)::int from (
         select 1 from state.turns t
          where t.project_id || '' = $1 and t.parent_agent_turn_id is not null and t.ended_at is null
         union all
         select 1 from state.batch_tasks k where k.project_id || '' = $1 and k.status = 'pending'
          limit m.most) q) as open
  from (select coalesce((select (p.limits ->> 'delegated_turns')::int from resource.projects p where p.project_id = $1), $2::int) as most) m`,
};
