// The result cards of the two-step way (reports.ts).

import type { Statement } from "../sql/database.ts";
import { inHands } from "./offer.sql.ts";

/**
 * Writes a card into the slot of its open call, or nothing. Whose hands count is decided as for a report (offer.sql.ts): a
 * holder that was replaced writes nothing (I6). The lock makes a settlement wait for the card, or the card for the
 * settlement, after which there is no live row to write it for. A settlement that waited finds the mark on the row, because the
 * server looks at its condition again for a row that was changed; a card that another statement wrote it would not see.
 * What stands in the way (the same card, another one in the slot, the lease, the settlement) is read afterwards.
 */
export const PUT_RESULT_CARD: Statement = {
  name: "reports.put-card",
  text: `
with open as (
  select from state.live_calls c
   where c.project_id = $1 and c.tool_call_id = $4 and ${inHands("$9::text")}
     for no key update
),
written as (
  insert into cards.cards (project_id, card_id, type, author_id, tool_call_id, agent_turn_id, step_id, hash, body, candidate, slot)
  select $1, $2, 'tool.result', $3, $4, $5, $6, $7, $8, true, true from open
  on conflict do nothing
  returning card_id
)
update state.live_calls
   set standing_card_id = $2
 where project_id = $1 and tool_call_id = $4 and exists (select from written)
returning standing_card_id`,
};

export interface StandingCard {
  readonly card_id: string;
  readonly hash: string;
  readonly body: string;
}

/** What stands under a card's id, and the card in the slot of its call. $1 project, $2 card, $3 author, $4 call. */
export const READ_STANDING: Statement = {
  name: "reports.read-standing",
  text: `
select card_id, hash, body from cards.cards where project_id = $1 and card_id = $2
union all
select card_id, hash, body from cards.cards
 where project_id = $1 and tool_call_id = $4 and author_id = $3 and slot and card_id <> $2`,
};

export const READ_RESULT_CARD: Statement = {
  name: "reports.read-card",
  text: "select hash, body from cards.cards where project_id = $1 and card_id = $2",
};
