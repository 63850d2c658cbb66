// What the attack on turns looks for. $1 agent everywhere.

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
