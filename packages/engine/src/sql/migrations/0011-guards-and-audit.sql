-- What a person decided about a tool, and who did what.

-- guarded_version: the version a person applied or accepted last; its options are guards that a program cannot weaken.
--   Null: no person ever touched the tool, and the program that registers it changes it freely.
-- pending_version, pending_source: a version a program registered that waits for a person, and that program.
-- deleted_by: the person who deleted the tool; null when its program did, which may bring it back.
alter table resource.tools
  add column guarded_version integer,
  add column pending_version integer,
  add column pending_source  text collate "C",
  add column deleted_by      text;

-- Nobody wrote down who set the options of the tools that exist, so all of them count as a person's. The options of a host's
-- tool always came from the operator's configuration and still do; there is nothing of a person's besides.
update resource.tools
   set guarded_version = case when coalesce(source, '') like 'host:%' then null else version end,
       deleted_by = case when status = 'deleted' then 'an unknown person' end;

-- One row per administrative act or use of a control key, written with what it tells of. Rows are added and read, never
-- changed; those of a project go with the project, that it was deleted stays (project_id null: the plane's own).
create table resource.audit (
  audit_id   bigint generated always as identity primary key,
  project_id text collate "C" references resource.projects on delete cascade,
  at         timestamptz not null default now(),
  -- the token's id, never its secret; null when no token was used
  token_id   text collate "C",
  role       text collate "C" not null,
  actor      text not null,
  door       text collate "C" not null,
  act        text collate "C" not null,
  subject    text not null,
  detail     jsonb not null default '{}'
);
create index audit_of_project on resource.audit (project_id, audit_id);

do $$
begin
  if exists (select from pg_roles where rolname = 'toolplane_reader') then
    grant select on resource.audit to toolplane_reader;
  end if;
  if exists (select from pg_roles where rolname = 'toolplane_engine') then
    -- No update and no delete: what the runtime wrote it cannot take back.
    grant select, insert on resource.audit to toolplane_engine;
  end if;
end $$;
