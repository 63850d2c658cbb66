-- Why a tool failed, in the words of its program: for operators only, never in a card. One row per failed call that brought some;
-- it goes when its call is forgotten. The reader role does not see it: dashboards are for more people than operators.
create table state.call_diagnostics (
  project_id   text collate "C" not null,
  tool_call_id text collate "C" not null,
  name         text not null,
  message      text not null,
  stack        text not null,
  created_at   timestamptz not null default now(),
  primary key (project_id, tool_call_id)
);

do $$
begin
  if exists (select from pg_roles where rolname = 'toolplane_engine') then
    grant select, insert, delete on state.call_diagnostics to toolplane_engine;
  end if;
end $$;
