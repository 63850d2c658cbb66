// How the attack on turns lets time pass, and what it looks for afterwards. $1 agent everywhere.

// What is in somebody's hands is left alone: the test must not be what others wait for.
export const LAPSE_CLAIMS = `
update state.inbox set claim_expires_at = now() - interval '1 second', ring_at = now() - interval '1 second'
 where ctid = any (array(select ctid from state.inbox where agent_id = $1 and archived_at is null for update skip locked))`;
export const LAPSE_LEASES = `
update state.live_calls set due_at = now() - interval '1 second', lease_expires_at = now() - interval '1 second'
 where ctid = any (array(select ctid from state.live_calls where agent_id = $1 and status = 'running' for update skip locked))`;
export const STAND_STILL = "update state.heads set updated_at = now() - interval '1 minute' where agent_id = $1";
export const RETRY_NOW =
  "update state.inbox set next_retry_at = now() where agent_id = $1 and status = 'deferred' and archived_at is null";
export const OFFER_NOW = "update state.live_calls set available_at = now() where agent_id = $1 and status = 'queued'";
/** $2 status. */
export const SET_STATUS = "update resource.agents set status = $2 where agent_id = $1";
export const OPEN_TURNS = "select agent_turn_id from state.turns where agent_id = $1 and ended_at is null";

/** Each of its turns with what must be one, and what must be none. */
export const FINDINGS = `
select t.ended_at is null as open,
       (select count(*)::int from cards.cards k where k.type = 'task.deliverable' and k.agent_turn_id = t.agent_turn_id) as deliverables,
       (select count(*)::int from cards.box_cards b where b.box_id = t.output_box_id and b.card_id = t.deliverable_card_id) as boxed,
       (select count(*)::int from bus.events m where m.subject like '%.task'
          and m.payload::json ->> 'agent_turn_id' = t.agent_turn_id) as events,
       (select count(*)::int from state.calls c where c.agent_turn_id = t.agent_turn_id and c.settled_at is null) as open_calls,
       (select count(*)::int from state.inbox r where r.agent_turn_id = t.agent_turn_id and r.archived_at is null
          and r.message_type in ('turn', 'continuation')) as open_rows,
       (select count(*)::int from state.steps s where s.agent_turn_id = t.agent_turn_id and s.ended_at is null) as open_steps,
       (select coalesce(json_agg(x.tool_call_id), '[]') from (
          select k.tool_call_id from cards.box_cards b join cards.cards k on k.card_id = b.card_id
           where b.box_id = t.output_box_id and k.tool_call_id is not null
           group by 1 having count(*) filter (where k.type = 'tool.call') <> 1 or count(*) filter (where k.type = 'tool.result') <> 1) x) as unpaired,
       (select h.status from state.heads h where h.agent_id = t.agent_id) as head
  from state.turns t
 where t.agent_id = $1`;
