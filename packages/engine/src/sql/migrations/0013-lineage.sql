-- How deep an agent is that another agent made. Outside of its turns it speaks at this depth, so a chain of delegations by
-- direct calls is as long as one by turns. 0: a person registered it.
alter table resource.agents add column depth integer not null default 0 constraint agents_depth_check check (depth >= 0);

-- What a project may ask for at most, by name; a name that is missing has the plane's own bound.
alter table resource.projects add column limits jsonb not null default '{}'::jsonb;

-- The trace a turn's own trace was started from, and a second name of the request (a person's message), used once as well.
alter table state.turns add column parent_traceparent text collate "C", add column alias_id text collate "C";
create unique index turns_alias on state.turns (alias_id, project_id) where alias_id is not null;
