-- Sessions: the state a tool service keeps between the calls of one (project, agent, target, alias).
-- `session` on a call is that key as text; null for the calls of no session, which none of this costs anything.

alter table state.calls add column session text collate "C";

-- The queue with a place for sessions: those without one are one range in the order of their time, and every session is
-- a range of its own, so that a session that is busy is passed over in one step, however many of its calls wait.
drop index state.calls_claimable;
create index calls_claimable on state.calls (project_id, target, session, available_at, tool_call_id) where status = 'queued';

-- Never two live leases of one session, whoever hands them out.
create unique index calls_session_running on state.calls (project_id, session) where status = 'running' and session is not null;

-- The state after the last call that succeeded, as JSON text; written by the statement that settles that call.
create table state.sessions (
  project_id text collate "C" not null,
  session    text collate "C" not null,
  agent_id   text collate "C" not null,
  target     text collate "C" not null,
  state      text not null,
  calls      bigint not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (project_id, session)
);
create index sessions_idle on state.sessions (project_id, updated_at);

do $$
begin
  if exists (select from pg_roles where rolname = 'toolplane_reader') then
    grant select on state.sessions to toolplane_reader;
  end if;
  if exists (select from pg_roles where rolname = 'toolplane_engine') then
    grant select, insert, update, delete on state.sessions to toolplane_engine;
  end if;
end $$;
