// What an agent has to do, and what its suspended turn waits for. Read while its head is held.

import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";
import type { AgentKey, TurnKey } from "./turn.ts";

export interface LiveKey extends AgentKey {
  /** Minted with the request: what an attempt whose answer was lost has claimed is found by it. */
  readonly claimId: string;
}

const agents = setInput<LiveKey>([
  ["projectId", "text"],
  ["agentId", "text"],
  ["claimId", "text"],
]);

// More than a step ever asks for; what is left is read by the next advance.
const MAX_ROWS = 500;

/** Rows that are due, and work whose claim has lapsed, in order. */
export const READ_LIVE: Statement = {
  name: "turns.read-live",
  text: `
select i.ord::int as ord, r.inbox_id, r.message_type, r.correlation_id, r.agent_turn_id, r.turn_epoch::float8 as turn_epoch,
       r.channel_id, r.context_headers, r.payload, r.status, r.claim_id, r.retry_count,
       floor(extract(epoch from r.created_at) * 1000)::float8 as created_ms
  from ${agents.from}
 cross join lateral (
   select * from state.inbox q
    where q.project_id = i.project_id and q.agent_id = i.agent_id and q.archived_at is null and q.status <> 'queued'
      and q.next_retry_at <= now() and (q.status <> 'processing' or q.claim_expires_at <= now() or q.claim_id = i.claim_id)
    order by q.next_retry_at, q.created_at, q.inbox_id
    limit ${MAX_ROWS}) r
 order by i.ord, r.next_retry_at, r.created_at, r.inbox_id`,
};

export const bindLive = (rows: readonly LiveKey[]): unknown[] => agents.bind(rows);

export interface WaitKey extends TurnKey {
  readonly turnEpoch: number;
}

const waits = setInput<WaitKey>([
  ["projectId", "text"],
  ["agentTurnId", "text"],
  ["turnEpoch", "bigint"],
]);

// A result is read only where it may end the turn: results can be large, and the others only add a card to the box.
/** The calls a turn was suspended for, in the order it asked for them, with what became of them. */
export const READ_WAITED: Statement = {
  name: "turns.read-waited",
  text: `
select i.ord::int as ord, c.tool_call_id, c.step_id, c.status, c.settled_at is not null as settled, c.applied_at is not null as applied,
       c.result_chain_seq is not null as released, c.result_card_id, k.hash as card_hash,
       case when c.after_execution = 'terminate' or position('__cg_control' in k.body) > 0 then k.body end as body,
       s.new_card_ids as step_card_ids, s.metadata as step_metadata,
       floor(extract(epoch from coalesce(c.run_deadline, c.queue_deadline + make_interval(secs => c.timeout_seconds))) * 1000)::float8
         as deadline_ms
  from ${waits.from}
 cross join lateral (
   select * from state.calls q
    where q.project_id = i.project_id and q.agent_turn_id = i.agent_turn_id and q.turn_epoch = i.turn_epoch and not q.headless
   offset 0) c
  left join cards.cards k on k.project_id = any (array[c.project_id]) and k.card_id = c.result_card_id
  left join state.steps s on s.project_id = any (array[c.project_id]) and s.agent_id = c.agent_id and s.step_id = c.step_id
 order by i.ord, c.tool_call_id`,
};

export const bindWaits = (rows: readonly WaitKey[]): unknown[] => waits.bind(rows);
