// Everything a turn leaves behind, in one statement: cards, boxes, steps, heads, turns, inbox rows, applied calls, events
// and wakeups. Whoever runs it holds the heads (LOCK_HEADS); what is written was decided from what was read under that lock.
//   I3. Events and wakeups are rows of the same commit.
//   A box row is updated before its entries get their places, so appends have one order; an id that is taken by another
//   content fails the whole statement (I7).

import type { MessageRow } from "../outbox/messages.sql.ts";
import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";

export interface TurnCardRow {
  readonly projectId: string;
  readonly cardId: string;
  readonly type: string;
  readonly authorId: string;
  readonly toolCallId: string | null;
  readonly agentTurnId: string | null;
  readonly stepId: string | null;
  readonly hash: string;
  readonly body: string;
  readonly chainSeq: number | null;
  readonly chainHash: string | null;
  readonly ttlSeconds: number | null;
}

const cards = setInput<TurnCardRow>([
  ["projectId", "text"],
  ["cardId", "text"],
  ["type", "text"],
  ["authorId", "text"],
  ["toolCallId", "text"],
  ["agentTurnId", "text"],
  ["stepId", "text"],
  ["hash", "text"],
  ["body", "text"],
  ["chainSeq", "integer"],
  ["chainHash", "text"],
  ["ttlSeconds", "double precision"],
]);

/** One row per box; `cardIds` is a JSON array, because arrays of arrays do not unnest. */
export interface BoxGrowth {
  readonly projectId: string;
  readonly boxId: string;
  readonly fresh: boolean;
  readonly cardIds: string;
}

const boxes = setInput<BoxGrowth>(
  [
    ["projectId", "text"],
    ["boxId", "text"],
    ["fresh", "boolean"],
    ["cardIds", "text"],
  ],
  cards.next,
);

export interface StepWrite {
  readonly projectId: string;
  readonly agentId: string;
  readonly stepId: string;
  readonly agentTurnId: string;
  readonly channelId: string;
  readonly parentStepId: string | null;
  readonly traceId: string;
  readonly status: string;
  /** JSON arrays; null keeps what is there. */
  readonly toolCallIds: string | null;
  readonly newCardIds: string | null;
  readonly error: string | null;
  readonly metadata: string | null;
  readonly requestHash: string | null;
  readonly outcome: string | null;
  readonly ended: boolean;
}

const steps = setInput<StepWrite>(
  [
    ["projectId", "text"],
    ["agentId", "text"],
    ["stepId", "text"],
    ["agentTurnId", "text"],
    ["channelId", "text"],
    ["parentStepId", "text"],
    ["traceId", "text"],
    ["status", "text"],
    ["toolCallIds", "text"],
    ["newCardIds", "text"],
    ["error", "text"],
    ["metadata", "text"],
    ["requestHash", "text"],
    ["outcome", "text"],
    ["ended", "boolean"],
  ],
  boxes.next,
);

/** The whole head as it shall be: its row is locked, so nobody else's change can be overwritten. */
export interface HeadWrite {
  readonly projectId: string;
  readonly agentId: string;
  readonly status: string;
  readonly activeAgentTurnId: string | null;
  readonly activeChannelId: string | null;
  readonly turnEpoch: number;
  readonly activeRecursionDepth: number;
  readonly parentStepId: string | null;
  readonly traceId: string | null;
  readonly profileBoxId: string | null;
  readonly contextBoxId: string | null;
  readonly outputBoxId: string | null;
  readonly waitingToolCount: number;
  readonly chainSeq: number;
  readonly chainHash: string | null;
  readonly lastOutputBoxId: string | null;
}

const heads = setInput<HeadWrite>(
  [
    ["projectId", "text"],
    ["agentId", "text"],
    ["status", "text"],
    ["activeAgentTurnId", "text"],
    ["activeChannelId", "text"],
    ["turnEpoch", "bigint"],
    ["activeRecursionDepth", "integer"],
    ["parentStepId", "text"],
    ["traceId", "text"],
    ["profileBoxId", "text"],
    ["contextBoxId", "text"],
    ["outputBoxId", "text"],
    ["waitingToolCount", "integer"],
    ["chainSeq", "integer"],
    ["chainHash", "text"],
    ["lastOutputBoxId", "text"],
  ],
  steps.next,
);

export interface TurnWrite {
  readonly projectId: string;
  readonly agentTurnId: string;
  /** `active`: dispatched now, or still going on; otherwise how it ended. */
  readonly status: string;
  readonly stepCount: number;
  readonly turnEpoch: number;
  readonly deliverableCardId: string | null;
  readonly error: string | null;
  readonly errorCode: string | null;
  readonly endClaimId: string | null;
  readonly chainSeq: number | null;
  readonly chainHash: string | null;
  readonly dispatched: boolean;
  readonly ended: boolean;
}

const turns = setInput<TurnWrite>(
  [
    ["projectId", "text"],
    ["agentTurnId", "text"],
    ["status", "text"],
    ["stepCount", "integer"],
    ["turnEpoch", "bigint"],
    ["deliverableCardId", "text"],
    ["error", "text"],
    ["errorCode", "text"],
    ["endClaimId", "text"],
    ["chainSeq", "integer"],
    ["chainHash", "text"],
    ["dispatched", "boolean"],
    ["ended", "boolean"],
  ],
  heads.next,
);

export interface InboxChange {
  readonly projectId: string;
  readonly inboxId: string;
  readonly status: string;
  /** Null keeps the epoch of the row. */
  readonly turnEpoch: number | null;
  readonly claimId: string | null;
  readonly claimSeconds: number | null;
  readonly worker: string | null;
  /** Added to the retries. */
  readonly retries: number;
  /** Seconds until it is looked at again. */
  readonly delaySeconds: number;
  readonly reason: string | null;
  readonly error: string | null;
}

const changes = setInput<InboxChange>(
  [
    ["projectId", "text"],
    ["inboxId", "text"],
    ["status", "text"],
    ["turnEpoch", "bigint"],
    ["claimId", "text"],
    ["claimSeconds", "double precision"],
    ["worker", "text"],
    ["retries", "integer"],
    ["delaySeconds", "double precision"],
    ["reason", "text"],
    ["error", "text"],
  ],
  turns.next,
);

export interface InboxInsert {
  readonly projectId: string;
  readonly inboxId: string;
  readonly agentId: string;
  readonly channelId: string;
  readonly messageType: string;
  readonly correlationId: string;
  readonly agentTurnId: string;
  readonly turnEpoch: number;
  readonly contextHeaders: string;
  readonly payload: string;
  readonly status: string;
  readonly claimId: string | null;
  readonly claimSeconds: number | null;
  readonly worker: string | null;
}

const arrivals = setInput<InboxInsert>(
  [
    ["projectId", "text"],
    ["inboxId", "text"],
    ["agentId", "text"],
    ["channelId", "text"],
    ["messageType", "text"],
    ["correlationId", "text"],
    ["agentTurnId", "text"],
    ["turnEpoch", "bigint"],
    ["contextHeaders", "text"],
    ["payload", "text"],
    ["status", "text"],
    ["claimId", "text"],
    ["claimSeconds", "double precision"],
    ["worker", "text"],
  ],
  changes.next,
);

export interface AppliedCall {
  readonly projectId: string;
  readonly toolCallId: string;
  /** Its result's place in the chain, once it has one. */
  readonly chainSeq: number | null;
}

const applied = setInput<AppliedCall>(
  [
    ["projectId", "text"],
    ["toolCallId", "text"],
    ["chainSeq", "integer"],
  ],
  arrivals.next,
);

const messages = setInput<MessageRow>(
  [
    ["category", "text"],
    ["projectId", "text"],
    ["subject", "text"],
    ["component", "text"],
    ["target", "text"],
    ["headers", "text"],
    ["payload", "text"],
    ["messageId", "text"],
  ],
  applied.next,
);

export interface Wakeup {
  readonly projectId: string;
  readonly agentId: string;
  readonly channelId: string;
  readonly headers: string;
  readonly payload: string;
  /** Only a watchdog's: one that still waits to be heard is enough. */
  readonly messageId: string | null;
}

const wakeups = setInput<Wakeup>(
  [
    ["projectId", "text"],
    ["agentId", "text"],
    ["channelId", "text"],
    ["headers", "text"],
    ["payload", "text"],
    ["messageId", "text"],
  ],
  messages.next,
);

export interface TurnWrites {
  readonly cards: TurnCardRow[];
  readonly boxes: BoxGrowth[];
  readonly steps: StepWrite[];
  readonly heads: HeadWrite[];
  readonly turns: TurnWrite[];
  readonly changes: InboxChange[];
  readonly arrivals: InboxInsert[];
  readonly applied: AppliedCall[];
  readonly messages: MessageRow[];
  readonly wakeups: Wakeup[];
}

const textArray = (json: string): string => `array(select json_array_elements_text(${json}::json))`;

// $next: the protocol version, first tokens of a wakeup's subject.
// A row that was claimed once keeps the time: processed_at is the first claim's.
export const WRITE_TURNS: Statement = {
  name: "turns.write",
  text: `
with said as (
  insert into cards.cards (project_id, card_id, type, author_id, tool_call_id, agent_turn_id, step_id, hash, body, chain_seq, chain_hash, expires_at)
  select project_id, card_id, type, author_id, tool_call_id, agent_turn_id, step_id, hash, body, chain_seq, chain_hash,
         now() + make_interval(secs => ttl_seconds)
    from ${cards.from}
   order by project_id, card_id
      on conflict (project_id, card_id) do update set hash = excluded.hash where cards.hash <> excluded.hash
),
made as (
  insert into cards.boxes (project_id, box_id, length)
  select i.project_id, i.box_id, json_array_length(i.card_ids::json) from ${boxes.from} where i.fresh
),
filled as (
  insert into cards.box_cards (project_id, box_id, position, card_id)
  select i.project_id, i.box_id, u.place - 1, u.card_id
    from ${boxes.from} cross join lateral json_array_elements_text(i.card_ids::json) with ordinality as u (card_id, place)
   where i.fresh
),
grown as (
  update cards.boxes b
     set length = b.length + json_array_length(i.card_ids::json), updated_at = now()
    from ${boxes.from}
   where b.project_id = i.project_id and b.box_id = i.box_id and not i.fresh
  returning b.project_id, b.box_id, b.length - json_array_length(i.card_ids::json) as start, i.card_ids
),
appended as (
  insert into cards.box_cards (project_id, box_id, position, card_id)
  select g.project_id, g.box_id, g.start + u.place - 1, u.card_id
    from grown g cross join lateral json_array_elements_text(g.card_ids::json) with ordinality as u (card_id, place)
),
stepped as (
  insert into state.steps as s (project_id, agent_id, step_id, agent_turn_id, channel_id, parent_step_id, trace_id, status, tool_call_ids,
                                new_card_ids, error, metadata, request_hash, outcome, ended_at)
  select project_id, agent_id, step_id, agent_turn_id, channel_id, parent_step_id, trace_id, status,
         ${textArray("coalesce(tool_call_ids, '[]')")}, ${textArray("coalesce(new_card_ids, '[]')")}, error,
         coalesce(metadata, '{}')::jsonb, request_hash, outcome, case when ended then now() end
    from ${steps.from}
      on conflict (project_id, agent_id, step_id) do update
     set status = excluded.status, error = excluded.error, ended_at = excluded.ended_at,
         tool_call_ids = case when cardinality(excluded.tool_call_ids) = 0 then s.tool_call_ids else excluded.tool_call_ids end,
         new_card_ids = s.new_card_ids || excluded.new_card_ids,
         metadata = s.metadata || excluded.metadata,
         request_hash = coalesce(excluded.request_hash, s.request_hash),
         outcome = coalesce(excluded.outcome, s.outcome)
),
moved as (
  update state.heads h
     set status = i.status, active_agent_turn_id = i.active_agent_turn_id, active_channel_id = i.active_channel_id,
         turn_epoch = i.turn_epoch, active_recursion_depth = i.active_recursion_depth, parent_step_id = i.parent_step_id,
         trace_id = i.trace_id, profile_box_id = coalesce(i.profile_box_id, h.profile_box_id), context_box_id = i.context_box_id,
         output_box_id = i.output_box_id, expecting_correlation_id = null, waiting_tool_count = i.waiting_tool_count,
         resume_deadline = null, chain_seq = i.chain_seq, chain_hash = i.chain_hash,
         last_output_box_id = coalesce(i.last_output_box_id, h.last_output_box_id), updated_at = now()
    from ${heads.from}
   where h.project_id = i.project_id and h.agent_id = i.agent_id
),
turned as (
  update state.turns t
     set status = i.status, step_count = i.step_count, turn_epoch = i.turn_epoch,
         deliverable_card_id = coalesce(i.deliverable_card_id, t.deliverable_card_id), error = i.error, error_code = i.error_code,
         end_claim_id = i.end_claim_id, chain_seq = coalesce(i.chain_seq, t.chain_seq), chain_hash = coalesce(i.chain_hash, t.chain_hash),
         dispatched_at = case when i.dispatched then now() else t.dispatched_at end,
         ended_at = case when i.ended then now() end
    from ${turns.from}
   where t.project_id = i.project_id and t.agent_turn_id = i.agent_turn_id and t.ended_at is null
),
changed as (
  update state.inbox r
     set status = i.status, turn_epoch = coalesce(i.turn_epoch, r.turn_epoch), claim_id = i.claim_id,
         claim_expires_at = now() + make_interval(secs => i.claim_seconds), worker = i.worker,
         retry_count = r.retry_count + i.retries, next_retry_at = now() + make_interval(secs => i.delay_seconds),
         ring_at = now() + greatest(make_interval(secs => i.delay_seconds), interval '5 seconds'), rings = 0,
         defer_reason = i.reason, last_error = coalesce(i.error, r.last_error),
         processed_at = case when i.status in ('pending', 'deferred') then null else coalesce(r.processed_at, now()) end,
         archived_at = case when i.status in ('consumed', 'error', 'skipped') then now() end
    from ${changes.from}
   where r.project_id = i.project_id and r.inbox_id = i.inbox_id
),
landed as (
  insert into state.inbox (project_id, inbox_id, agent_id, channel_id, message_type, correlation_id, agent_turn_id, turn_epoch,
                           context_headers, payload, status, claim_id, claim_expires_at, worker, processed_at)
  select project_id, inbox_id, agent_id, channel_id, message_type, correlation_id, agent_turn_id, turn_epoch, context_headers,
         payload, status, claim_id, now() + make_interval(secs => claim_seconds), worker,
         case when status = 'processing' then now() end
    from ${arrivals.from}
),
counted as (
  update state.calls c
     set applied_at = coalesce(c.applied_at, now()), result_chain_seq = coalesce(i.chain_seq, c.result_chain_seq)
    from ${applied.from}
   where c.project_id = i.project_id and c.tool_call_id = i.tool_call_id
),
told as (
  insert into bus.messages (category, project_id, subject, component, target, headers, payload, message_id)
  select category, project_id, subject, component, target, headers, payload, message_id
    from ${messages.from}
   order by ord
      on conflict (project_id, message_id) where message_id is not null do nothing
),
called as materialized (
  select i.ord, i.project_id, i.channel_id, i.headers, i.payload, i.message_id, a.worker_target
    from ${wakeups.from}
    left join resource.agents a on a.project_id = i.project_id and a.agent_id = i.agent_id
),
rung as (
  insert into bus.messages (category, project_id, subject, component, target, headers, payload, message_id)
  select 'cmd', project_id, 'cg.' || $${wakeups.next}::text || '.' || project_id || '.' || channel_id || '.cmd.agent.' || worker_target || '.wakeup',
         'agent', worker_target, headers, payload, message_id
    from called
   where worker_target is not null
   order by ord
      on conflict (project_id, message_id) where message_id is not null do nothing
)
select now() as written_at, (select count(*)::int from called where worker_target is null) as unrung`,
};

export const bindTurnWrites = (writes: TurnWrites, protocolVersion: string): unknown[] => [
  ...cards.bind(writes.cards),
  ...boxes.bind(writes.boxes),
  ...steps.bind(writes.steps),
  ...heads.bind(writes.heads),
  ...turns.bind(writes.turns),
  ...changes.bind(writes.changes),
  ...arrivals.bind(writes.arrivals),
  ...applied.bind(writes.applied),
  ...messages.bind(writes.messages),
  ...wakeups.bind(writes.wakeups),
  protocolVersion,
];
