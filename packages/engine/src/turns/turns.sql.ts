// Reading turns under the lock of their agents' heads. The lock is a statement of its own: what is read after it was
// committed by whoever held the head before.

import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";
import type { AgentKey, TurnKey } from "./turn.ts";
import { TURN_COLUMNS } from "./turn-row.ts";

const agents = setInput<AgentKey>([
  ["projectId", "text"],
  ["agentId", "text"],
]);

const lockHeads = (ending: string): string => `
select i.ord::int as ord, h.project_id, h.agent_id, h.status, h.active_agent_turn_id, h.active_channel_id,
       h.turn_epoch::float8 as turn_epoch, h.waiting_tool_count, h.chain_seq, h.chain_hash,
       floor(extract(epoch from now()) * 1000)::float8 as now_ms
  from ${agents.from}
  join state.heads h on h.project_id = any (array[i.project_id]) and h.agent_id = i.agent_id
 order by i.project_id collate "C", i.agent_id collate "C"
   for update of h ${ending}`;

/** In sorted order; a head that somebody else holds is left out and asked for again. */
export const LOCK_HEADS: Statement = { name: "turns.lock-heads", text: lockHeads("skip locked") };

/** The same for those who cannot come again: a spawn or a stop inside somebody's transaction. */
export const AWAIT_HEADS: Statement = { name: "turns.await-heads", text: lockHeads("") };

export const KNOWN_HEADS: Statement = {
  name: "turns.known-heads",
  text: `
select i.ord::int as ord
  from ${agents.from}
 cross join lateral (select from state.heads q where q.project_id = i.project_id and q.agent_id = i.agent_id offset 0) h`,
};

/** A head for agents of the roster that have none yet. */
export const ENSURE_HEADS: Statement = {
  name: "turns.ensure-heads",
  text: `
insert into state.heads (project_id, agent_id)
select i.project_id, i.agent_id
  from ${agents.from}
 cross join lateral (select from resource.agents q where q.project_id = i.project_id and q.agent_id = i.agent_id offset 0) a
 where not exists (select from state.heads h where h.project_id = i.project_id and h.agent_id = i.agent_id offset 0)
 order by 1, 2
on conflict do nothing`,
};

export const bindAgents = (rows: readonly AgentKey[]): unknown[] => agents.bind(rows);

const turns = setInput<TurnKey>([
  ["projectId", "text"],
  ["agentTurnId", "text"],
]);

export const READ_TURNS: Statement = {
  name: "turns.read",
  text: `
select i.ord::int as ord, ${TURN_COLUMNS}
  from ${turns.from}
  join state.turns t on t.project_id = any (array[i.project_id]) and t.agent_turn_id = i.agent_turn_id`,
};

export const bindTurns = (rows: readonly TurnKey[]): unknown[] => turns.bind(rows);

export interface ClaimKey extends TurnKey {
  readonly inboxId: string;
  /** The step it is about, if any. */
  readonly stepId: string | null;
}

const claims = setInput<ClaimKey>([
  ["projectId", "text"],
  ["agentTurnId", "text"],
  ["inboxId", "text"],
  ["stepId", "text"],
]);

// Each lookup is a subquery of its own ("offset 0"): joined, the planner may begin with the wrong one while tables are small,
// and that plan would stay.
/** A turn with the row somebody says to work on, and the step somebody says to do. */
export const READ_CLAIMED: Statement = {
  name: "turns.read-claimed",
  text: `
select i.ord::int as ord, r.status as inbox_status, r.claim_id, s.status as step_status, s.request_hash as step_hash, s.outcome as step_outcome,
       s.new_card_ids as step_card_ids, ${TURN_COLUMNS}
  from ${claims.from}
 cross join lateral (select * from state.turns q where q.project_id = i.project_id and q.agent_turn_id = i.agent_turn_id offset 0) t
 cross join lateral (select q.status, q.claim_id from state.inbox q where q.project_id = i.project_id and q.inbox_id = i.inbox_id offset 0) r
  left join lateral (select q.status, q.request_hash, q.outcome, q.new_card_ids from state.steps q
    where q.project_id = i.project_id and q.agent_id = t.agent_id and q.step_id = i.step_id offset 0) s on true`,
};

export const bindClaims = (rows: readonly ClaimKey[]): unknown[] => claims.bind(rows);

// Further rows only count if the first cannot run; a queue of nothing but broken ones is left to the next dispatch.
const TRY_AT_ONCE = 5;

/** The oldest turns that wait for these agents. An inactive agent begins none: they wait until it is active again. */
export const READ_QUEUED: Statement = {
  name: "turns.read-queued",
  text: `
select i.ord::int as ord, q.inbox_id, q.context_headers, q.payload as inbox_payload, ${TURN_COLUMNS}
  from ${agents.from}
 cross join lateral (
   select r.project_id, r.inbox_id, r.agent_turn_id, r.context_headers, r.payload, r.created_at
     from state.inbox r
    where r.project_id = i.project_id and r.agent_id = i.agent_id and r.status = 'queued'
      and not exists (select from resource.agents a
                       where a.project_id = i.project_id and a.agent_id = i.agent_id and a.status <> 'active' offset 0)
    order by r.created_at, r.inbox_id
    limit ${TRY_AT_ONCE}) q
  join state.turns t on t.project_id = any (array[q.project_id]) and t.agent_turn_id = q.agent_turn_id
 order by i.ord, q.created_at, q.inbox_id`,
};

// The box leads to its cards, never the other way round.
const NEWEST = `from cards.box_cards b
  cross join lateral (select q.card_id, q.body, q.type, q.agent_turn_id from cards.cards q
    where q.project_id = b.project_id and q.card_id = b.card_id offset 0) k
  where b.project_id = t.project_id and b.box_id = t.output_box_id and k.agent_turn_id = t.agent_turn_id`;

// A fallback deliverable says what the turn got to; deliverables of other turns in a shared box are not this one's.
/** What is needed to end turns that bring no deliverable of their own. */
export const READ_ENDINGS: Statement = {
  name: "turns.read-endings",
  text: `
select i.ord::int as ord,
       (select count(*)::int from state.past_calls c
         where c.project_id = t.project_id and c.agent_turn_id = t.agent_turn_id and not c.headless and c.applied_at is not null) as results,
       (select k.body ${NEWEST} and k.type = 'agent.thought' order by b.position desc limit 1) as thought,
       (select k.card_id ${NEWEST} and k.type = 'task.deliverable' order by b.position desc limit 1) as deliverable_card_id
  from ${turns.from}
  join state.turns t on t.project_id = any (array[i.project_id]) and t.agent_turn_id = i.agent_turn_id`,
};
