-- An agent's token reads only what its agent made, was given or started. Whose a box is, is asked of the turns that began
-- with it or write into it; whether a card was given to an agent, of the boxes that hold it. Both are look-ups.
-- By the id alone: the project is compared afterwards, and no statement that is led by the project takes one of these instead.
create index turns_of_context on state.turns (context_box_id);
create index turns_of_output on state.turns (output_box_id);
create index box_cards_of_card on cards.box_cards (card_id);
