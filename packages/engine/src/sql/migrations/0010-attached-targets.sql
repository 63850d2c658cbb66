-- Which targets of which projects a service serves over an external bus: only those have a durable there. A service says
-- so when it begins and again while it works; a pair that nobody has named for long loses its durable.
create table bus.attached_targets (
  project_id  text collate "C" not null references resource.projects on delete cascade,
  target      text collate "C" not null,
  attached_at timestamptz not null default now(),
  primary key (project_id, target)
);

-- Tools of services that never lease take their commands from the bus without saying so: extracted from the definition.
alter table resource.tools add column plain boolean not null default false;
update resource.tools t
   set plain = v.definition::jsonb #>> '{options,service}' = 'plain'
  from resource.tool_versions v
 where v.project_id = t.project_id and v.tool_name = t.tool_name and v.version = t.version
   and v.definition like '%"service":"plain"%' and position('\u0000' in v.definition) = 0;
create index tools_plain on resource.tools (project_id, target) where plain and status <> 'deleted';
drop index resource.tools_targets;

do $$
begin
  if exists (select from pg_roles where rolname = 'toolplane_reader') then
    grant select on bus.attached_targets to toolplane_reader;
  end if;
  if exists (select from pg_roles where rolname = 'toolplane_engine') then
    grant select, insert, update, delete on bus.attached_targets to toolplane_engine;
  end if;
end $$;
