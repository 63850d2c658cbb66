// Reads turns under the lock of their agents' heads. The lock is a statement of its own: what is read afterwards was committed
// by the previous holder of the head.

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

/** In sorted order; a head that another transaction holds is left out and asked for again. */
export const LOCK_HEADS: Statement = { name: "turns.lock-heads", text: lockHeads("skip locked") };

/** The same, waiting for the lock: for a spawn or a stop inside the caller's transaction, which cannot try again. */
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

// Further rows count only if the first cannot run; a queue of broken rows only is left to the next dispatch.
const TRY_AT_ONCE = 5;

/** The oldest turns that wait for the agent of `i`. An inactive agent begins none: they wait until it is active again. */
export const queuedTurns = `
    select q.inbox_id, q.context_headers, q.payload as inbox_payload, ${TURN_COLUMNS}
      from (select r.project_id, r.inbox_id, r.agent_turn_id, r.context_headers, r.payload, r.created_at
              from state.inbox r
             where r.project_id = i.project_id and r.agent_id = i.agent_id and r.status = 'queued'
               and not exists (select from resource.agents a
                                where a.project_id = i.project_id and a.agent_id = i.agent_id and a.status <> 'active' offset 0)
             order by r.created_at, r.inbox_id
             limit ${TRY_AT_ONCE}) q
      join state.turns t on t.project_id = any (array[q.project_id]) and t.agent_turn_id = q.agent_turn_id
     order by q.created_at, q.inbox_id`;

export const READ_QUEUED: Statement = {
  name: "turns.read-queued",
  text: `
select i.ord::int as ord, x.* from ${agents.from} cross join lateral (${queuedTurns}) x
 order by i.ord`,
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
