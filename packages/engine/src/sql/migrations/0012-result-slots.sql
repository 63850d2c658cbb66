-- At most one result card of an author for a call that is open (I7, UTP 4.4): a card a service writes takes the slot of its
-- call. Cards from before have none: there may be several of a call, and they stay as they are.
alter table cards.cards add column slot boolean not null default false;
create unique index cards_result_slot on cards.cards (project_id, tool_call_id, author_id) where slot;
