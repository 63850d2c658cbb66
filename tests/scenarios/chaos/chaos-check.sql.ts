// The check's own reading of what agents did.

export const READ_TURNS = `
select agent_turn_id, status, error_code, correlation_id, parent_agent_turn_id, deliverable_card_id, step_count,
       ended_at is not null as ended
  from state.turns where project_id = $1`;

export const COUNT_DELIVERABLES = `
select agent_turn_id, count(*)::int as cards from cards.cards
 where project_id = $1 and type = 'task.deliverable' group by agent_turn_id`;

export const COUNT_UNDER_WAY = `
select (select count(*) from state.calls where settled_at is null)::int as calls,
       (select count(*) from state.turns where ended_at is null)::int as turns,
       (select count(*) from state.heads where status <> 'idle')::int as heads,
       (select count(*) from bus.messages)::int as messages`;
