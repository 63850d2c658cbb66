// Heads, steps and edges as people and programs read them. "offset 0" keeps a lookup a lookup.

import type { Statement } from "../sql/database.ts";

export interface HeadStateRow {
  readonly agent_id: string;
  readonly status: string;
  readonly active_agent_turn_id: string | null;
  readonly active_channel_id: string | null;
  readonly turn_epoch: number;
  readonly active_recursion_depth: number;
  readonly parent_step_id: string | null;
  readonly trace_id: string | null;
  readonly profile_box_id: string | null;
  readonly context_box_id: string | null;
  readonly output_box_id: string | null;
  readonly waiting_tool_count: number;
  readonly resume_deadline: Date | null;
  readonly updated_at: Date;
}

// The head keeps only the end of the turn's own time, if it has a budget: what a suspended turn awaits is in its calls.
const RESUMES_AT = `case when h.status = 'suspended' then least(h.resume_deadline, (
         select max(coalesce(c.settled_at, c.run_deadline, c.queue_deadline + make_interval(secs => c.timeout_seconds)))
           from (select * from state.calls q
                  where q.project_id = h.project_id and q.agent_turn_id = h.active_agent_turn_id and q.turn_epoch = h.turn_epoch
                    and not q.headless and q.applied_at is null
                 offset 0) c)) end`;

/** By agent. $1 project, $2 after this agent, $3 limit, $4 channel or null, $5 status or null. */
export const LIST_HEADS: Statement = {
  name: "lineage.list-heads",
  text: `
select h.agent_id, h.status, h.active_agent_turn_id, h.active_channel_id, h.turn_epoch::float8 as turn_epoch, h.active_recursion_depth,
       h.parent_step_id, h.trace_id, h.profile_box_id, h.context_box_id, h.output_box_id, h.waiting_tool_count,
       ${RESUMES_AT} as resume_deadline, h.updated_at
  from state.heads h
 where h.project_id = $1 and h.agent_id > $2::text
   and ($4::text is null or h.active_channel_id = $4::text) and ($5::text is null or h.status = $5::text)
 order by h.project_id, h.agent_id
 limit $3::int`,
};

export interface StepStateRow {
  readonly step_id: string;
  readonly agent_id: string;
  readonly agent_turn_id: string;
  readonly channel_id: string;
  readonly parent_step_id: string | null;
  readonly trace_id: string | null;
  readonly status: string;
  readonly tool_call_ids: readonly string[];
  readonly error: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly started_at: Date;
  readonly ended_at: Date | null;
}

/** In the order of the turns, newest first of each. $1 project, $2 turns. */
export const STEPS_OF_TURNS: Statement = {
  name: "lineage.steps-of-turns",
  text: `
select s.step_id, s.agent_id, s.agent_turn_id, s.channel_id, s.parent_step_id, s.trace_id, s.status, s.tool_call_ids, s.error, s.metadata,
       s.started_at, s.ended_at
  from unnest($2::text[]) with ordinality as t (agent_turn_id, ord)
 cross join lateral (
   select * from state.steps x where x.agent_turn_id = t.agent_turn_id and x.project_id = $1 offset 0) s
 order by t.ord, s.started_at desc, s.step_id desc`,
};

export interface ExecutionEdgeRow {
  readonly edge_id: string;
  readonly channel_id: string;
  readonly primitive: string;
  readonly edge_phase: string;
  readonly source_agent_id: string | null;
  readonly source_turn_id: string | null;
  readonly source_step_id: string | null;
  readonly target_agent_id: string;
  readonly target_turn_id: string | null;
  readonly correlation_id: string;
  readonly recursion_depth: number;
  readonly trace_id: string | null;
  readonly parent_step_id: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: Date;
}

// The first from the id on, in the order of the key: only the key leads there. Asked by equality, another index that begins with the
// project costs the same on an empty table.
/** The stored ones among these. $1 project, $2 edges. */
export const READ_EDGES: Statement = {
  name: "lineage.read-edges",
  text: `
select e.edge_id, e.channel_id, e.primitive, e.edge_phase, e.source_agent_id, e.source_turn_id, e.source_step_id, e.target_agent_id,
       e.target_turn_id, e.correlation_id, e.recursion_depth, e.trace_id, e.parent_step_id, e.metadata, e.created_at
  from unnest($2::text[]) as i (edge_id)
 cross join lateral (
   select * from state.edges x where x.project_id = $1 and x.edge_id >= i.edge_id order by x.project_id, x.edge_id limit 1) e
 where e.edge_id = i.edge_id`,
};

export interface IdentityEdgeRow {
  readonly edge_id: string;
  readonly channel_id: string;
  readonly action: string;
  readonly source_agent_id: string | null;
  readonly target_agent_id: string;
  readonly trace_id: string | null;
  readonly parent_step_id: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: Date;
}

/**
 * $1 project, $2 before this edge or null, $3 limit; each null or wanted: $4 agent, $5 action, $6 channel, $7 trace, $8 parent step, and as
 * the agent was made: $9 owner, $10 pool, $11 tag.
 */
export const LIST_IDENTITY_EDGES: Statement = {
  name: "lineage.list-identity-edges",
  text: `
select e.edge_id, e.channel_id, e.action, e.source_agent_id, e.target_agent_id, e.trace_id, e.parent_step_id, e.metadata, e.created_at
  from state.identity_edges e
 where e.project_id = $1 and e.edge_id < coalesce($2::text, chr(1114111))
   and ($4::text is null or e.target_agent_id = $4::text or e.source_agent_id = $4::text) and ($5::text is null or e.action = $5::text)
   and ($6::text is null or e.channel_id = $6::text) and ($7::text is null or e.trace_id = $7::text)
   and ($8::text is null or e.parent_step_id = $8::text)
   and ($9::text is null or e.metadata ->> 'owner_agent_id' = $9::text) and ($10::text is null or e.metadata ->> 'worker_target' = $10::text)
   and ($11::text is null or jsonb_exists(e.metadata -> 'tags', $11::text))
 order by e.project_id desc, e.edge_id desc
 limit $3::int`,
};
