// A step moves its agent's head from running to suspended in the transaction that writes its calls.

import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";

export interface HeadKey {
  readonly projectId: string;
  readonly agentId: string;
}

export interface HeldHeadRow {
  readonly ord: number;
  readonly status: string;
  readonly active_agent_turn_id: string | null;
  readonly turn_epoch: number;
  readonly chain_seq: number;
  readonly chain_hash: string | null;
}

const heads = setInput<HeadKey>([
  ["projectId", "text"],
  ["agentId", "text"],
]);

/** Locked in sorted order; a head that somebody else holds is left out and asked for again. */
export const LOCK_HEADS: Statement = {
  name: "calls.lock-heads",
  text: `
select i.ord::int as ord, h.status, h.active_agent_turn_id, h.turn_epoch::float8 as turn_epoch, h.chain_seq, h.chain_hash
  from ${heads.from}
  join state.heads h on h.project_id = any (array[i.project_id]) and h.agent_id = i.agent_id
 order by i.project_id collate "C", i.agent_id collate "C"
   for update of h skip locked`,
};

export const KNOWN_HEADS: Statement = {
  name: "calls.known-heads",
  text: `
select i.ord::int as ord
  from ${heads.from}
 cross join lateral (select from state.heads q where q.project_id = i.project_id and q.agent_id = i.agent_id offset 0) h`,
};

export const bindHeads = (rows: readonly HeadKey[]): unknown[] => heads.bind(rows);

export interface StepKey extends HeadKey {
  readonly agentTurnId: string;
  readonly turnEpoch: number;
  readonly stepId: string;
}

export interface DoneCallRow {
  readonly ord: number;
  readonly tool_call_id: string;
  readonly call_card_id: string;
  readonly tool_name: string;
  readonly arguments_hash: string;
  readonly chain_seq: number;
  readonly chain_hash: string;
}

const stepKeys = setInput<StepKey>([
  ["projectId", "text"],
  ["agentId", "text"],
  ["agentTurnId", "text"],
  ["turnEpoch", "bigint"],
  ["stepId", "text"],
]);

/** The calls of steps that were dispatched in this turn and epoch, in the order they were asked for. */
export const READ_DONE_STEPS: Statement = {
  name: "calls.read-done-steps",
  text: `
select i.ord::int as ord, c.tool_call_id, c.call_card_id, c.tool_name, c.arguments_hash, k.chain_seq, k.chain_hash
  from ${stepKeys.from}
  join state.steps s on s.project_id = any (array[i.project_id]) and s.agent_id = i.agent_id and s.step_id = i.step_id
       and s.agent_turn_id = i.agent_turn_id
 cross join lateral unnest(s.tool_call_ids) with ordinality as u (tool_call_id, place)
 cross join lateral (select * from state.calls x where x.project_id = s.project_id and x.tool_call_id = u.tool_call_id offset 0) c
 cross join lateral (
   select chain_seq, chain_hash from cards.cards x where x.project_id = c.project_id and x.card_id = c.call_card_id offset 0) k
 where c.turn_epoch = i.turn_epoch
 order by i.ord, u.place`,
};

export const bindSteps = (rows: readonly StepKey[]): unknown[] => stepKeys.bind(rows);

export interface SuspendRow extends HeadKey {
  readonly agentTurnId: string;
  readonly turnEpoch: number;
  readonly stepId: string;
  readonly channelId: string;
  readonly parentStepId: string | null;
  readonly traceId: string;
  readonly waiting: number;
  readonly chainSeq: number;
  readonly chainHash: string;
  /** A JSON array of the step's call ids: arrays of arrays do not unnest. */
  readonly toolCallIds: string;
}

const suspends = setInput<SuspendRow>([
  ["projectId", "text"],
  ["agentId", "text"],
  ["agentTurnId", "text"],
  ["turnEpoch", "bigint"],
  ["stepId", "text"],
  ["channelId", "text"],
  ["parentStepId", "text"],
  ["traceId", "text"],
  ["waiting", "integer"],
  ["chainSeq", "integer"],
  ["chainHash", "text"],
  ["toolCallIds", "text"],
]);

/** The head needs no deadline of its own: every call it waits for settles by its own deadlines (I1). */
export const SUSPEND_HEADS: Statement = {
  name: "calls.suspend-heads",
  text: `
with input as materialized (select * from ${suspends.from}),
moved as (
  update state.heads h
     set status = 'suspended', waiting_tool_count = i.waiting, chain_seq = i.chain_seq, chain_hash = i.chain_hash, updated_at = now()
    from input i
   where h.project_id = any (array[i.project_id]) and h.agent_id = i.agent_id and h.status = 'running'
     and h.active_agent_turn_id = i.agent_turn_id and h.turn_epoch = i.turn_epoch
  returning i.*
),
stepped as (
  insert into state.steps (project_id, agent_id, step_id, agent_turn_id, channel_id, parent_step_id, trace_id, status, tool_call_ids)
  select m.project_id, m.agent_id, m.step_id, m.agent_turn_id, m.channel_id, m.parent_step_id, m.trace_id, 'suspended',
         array(select json_array_elements_text(m.tool_call_ids::json))
    from moved m
  on conflict (project_id, agent_id, step_id) do update set status = excluded.status, tool_call_ids = excluded.tool_call_ids
)
select ord::int as ord from moved`,
};

export const bindSuspends = (rows: readonly SuspendRow[]): unknown[] => suspends.bind(rows);
