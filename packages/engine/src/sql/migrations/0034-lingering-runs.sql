-- Runs of limited calls that another party has ended: canceled, stopped with their turn, out of time. The call has its result, and its service
-- may still run the tool, so the run keeps its slot until the service says that it is over, or until `held_until`: the end of its lease, or
-- of its time where the service takes no lease. A heartbeat that is told of the end moves it, up to the deadline of the run.
create table state.lingering_runs (
  project_id   text collate "C" not null references resource.projects on delete cascade,
  tool_call_id text collate "C" not null,
  gate         text collate "C" not null,
  lease_id     text collate "C",
  holder       text,
  -- the status that the call ended with
  ended_as     text not null,
  started_at   timestamptz,
  run_deadline timestamptz,
  held_until   timestamptz not null,
  primary key (project_id, tool_call_id)
);
create index lingering_runs_of_gate on state.lingering_runs (project_id, gate, held_until);

-- The call that passed as the trial of a breaker. Its end is counted a moment after it: until then no other trial passes.
alter table state.gates add column trial text collate "C";

do $$
begin
  if exists (select from pg_roles where rolname = 'toolplane_reader') then
    grant select on state.lingering_runs to toolplane_reader;
  end if;
  if exists (select from pg_roles where rolname = 'toolplane_engine') then
    grant select, insert, update, delete on state.lingering_runs to toolplane_engine;
  end if;
end $$;
