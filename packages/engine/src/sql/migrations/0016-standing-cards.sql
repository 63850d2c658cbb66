-- The result card that a service wrote for a call that is still open (UTP 4.4). A report settles with this card or not at all, so
-- that a call never ends with two result cards of its author. Written in the transaction of the card.
alter table state.live_calls add column standing_card_id text collate "C";

update state.live_calls c
   set standing_card_id = k.card_id
  from cards.cards k
 where k.project_id = c.project_id and k.tool_call_id = c.tool_call_id and k.author_id = c.actor_id and k.slot;
