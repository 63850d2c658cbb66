// What a story left behind.

export const STORY_CARDS =
  "select card_id, type, agent_turn_id, step_id, body from cards.cards where project_id = $1 order by card_id";
export const STORY_TURNS = `
select t.agent_turn_id, t.agent_id, t.status, t.error_code, t.step_count, t.recursion_depth, t.parent_agent_turn_id, k.body as instruction
  from state.turns t
  join cards.box_cards b on b.project_id = t.project_id and b.box_id = t.context_box_id
  join cards.cards k on k.project_id = b.project_id and k.card_id = b.card_id and k.type = 'task.instruction'
 where t.project_id = $1`;
export const STORY_EVENTS =
  "select subject, payload from bus.events where project_id = $1 and subject not like '%.call' order by id, part";
export const OPEN_TURNS = "select count(*)::int as open from state.turns where project_id = $1 and ended_at is null";
