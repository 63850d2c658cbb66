// Everything a turn leaves behind, in one statement: cards, boxes, steps, heads, turns, inbox rows, applied calls, events
// and wakeups. Whoever runs it holds the heads (LOCK_HEADS); what is written was decided from what was read under that lock.
//   I3. Events and wakeups are rows of the same commit.
//   A box row is updated before its entries get their places, so appends have one order; an id that is taken by another
//   content fails the whole statement (I7).

import type { Statement } from "../sql/database.ts";
import {
  applied,
  arrivals,
  boxes,
  cards,
  changes,
  heads,
  messages,
  steps,
  turns,
  wakeups,
} from "./turn-write-rows.sql.ts";

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
   where b.project_id = any (array[i.project_id]) and b.box_id = i.box_id and not i.fresh
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
   where h.project_id = any (array[i.project_id]) and h.agent_id = i.agent_id
),
turned as (
  update state.turns t
     set status = i.status, step_count = i.step_count, turn_epoch = i.turn_epoch,
         deliverable_card_id = coalesce(i.deliverable_card_id, t.deliverable_card_id), error = i.error, error_code = i.error_code,
         end_claim_id = i.end_claim_id, chain_seq = coalesce(i.chain_seq, t.chain_seq), chain_hash = coalesce(i.chain_hash, t.chain_hash),
         dispatched_at = case when i.dispatched then now() else t.dispatched_at end,
         ended_at = case when i.ended then now() end
    from ${turns.from}
   where t.project_id = any (array[i.project_id]) and t.agent_turn_id = i.agent_turn_id
),
changed as (
  update state.inbox r
     set status = i.status, turn_epoch = coalesce(i.turn_epoch, r.turn_epoch), claim_id = i.claim_id,
         claim_expires_at = now() + make_interval(secs => i.claim_seconds), worker = i.worker,
         retry_count = r.retry_count + i.retries, next_retry_at = now() + make_interval(secs => i.delay_seconds),
         ring_at = now() + case when i.status = 'deferred' then make_interval(secs => i.delay_seconds) else interval '5 seconds' end, rings = 0,
         defer_reason = i.reason, last_error = coalesce(i.error, r.last_error),
         processed_at = case when i.status in ('pending', 'deferred') then null else coalesce(r.processed_at, now()) end,
         archived_at = case when i.status in ('consumed', 'error', 'skipped') then now() end
    from ${changes.from}
   where r.project_id = any (array[i.project_id]) and r.inbox_id = i.inbox_id
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
  update state.past_calls c
     set applied_at = coalesce(c.applied_at, now()), result_chain_seq = coalesce(i.chain_seq, c.result_chain_seq)
    from ${applied.from}
   where c.project_id = any (array[i.project_id]) and c.tool_call_id = i.tool_call_id
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
    left join resource.agents a on a.project_id = any (array[i.project_id]) and a.agent_id = i.agent_id
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
