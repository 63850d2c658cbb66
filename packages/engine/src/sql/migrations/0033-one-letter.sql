-- A message that a bus gives up twice, because storing its letter took longer than the message was held, is one dead letter.
alter table state.dead_letters add column lost_id text collate "C";
create unique index dead_letters_lost on state.dead_letters (project_id, lost_id) where lost_id is not null;
