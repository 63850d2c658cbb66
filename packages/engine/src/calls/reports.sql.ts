// Cards of the two-step way.

import type { Statement } from "../sql/database.ts";

/** Insert-only (I7): the same card again is a no-op, another one under its id is refused by the trigger. */
export const PUT_RESULT_CARD: Statement = {
  name: "reports.put-card",
  text: `
insert into cards.cards (project_id, card_id, type, author_id, tool_call_id, agent_turn_id, step_id, hash, body, candidate)
values ($1, $2, 'tool.result', $3, $4, $5, $6, $7, $8, true)
on conflict (project_id, card_id) do update set hash = excluded.hash where cards.hash <> excluded.hash`,
};

export const READ_RESULT_CARD: Statement = {
  name: "reports.read-card",
  text: "select body from cards.cards where project_id = $1 and card_id = $2",
};
