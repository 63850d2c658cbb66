-- Calls of limited tools, and of projects with a limit, pass a gate when they are claimed. `gate` names it: the tool, or '' for a call
-- that only the project's own limit holds. They wait in an index of their own, so the queue of all other calls does not hold them and
-- a claim of those reads nothing of the limits.
-- Claims share what they take between the lanes of the queue: a lane is an agent; '' holds the calls for later and those from before.
alter table state.live_calls add column gate text collate "C", add column lane text collate "C" not null default '';

-- A queued call stands in exactly one of these, or in the one for limited calls; a limited call of a session also keeps its place there.
drop index state.live_calls_claimable;
drop index state.live_calls_pinned;
create index live_calls_claimable on state.live_calls (project_id, target, lane, available_at, tool_call_id)
 where status = 'queued' and session is null and pin is null and gate is null;
create index live_calls_of_session on state.live_calls (project_id, target, session, available_at, tool_call_id)
 where status = 'queued' and session is not null;
create index live_calls_pinned on state.live_calls (project_id, target, pin, available_at, tool_call_id)
 where status = 'queued' and session is null and pin is not null and gate is null;
create index live_calls_gated on state.live_calls (project_id, target, gate, lane, available_at, tool_call_id)
 where status = 'queued' and gate is not null;
-- What holds the slots: counted from the leases, so a slot of a dead holder is free when its lease has ended.
create index live_calls_gate_running on state.live_calls (project_id, gate) where status = 'running' and gate is not null;

-- The limits of the version in force, extracted from its definition; null for a tool without any.
alter table resource.tools add column limits jsonb;
update resource.tools t
   set limits = jsonb_strip_nulls(jsonb_build_object('concurrency', v.definition::jsonb #> '{options,concurrency}',
                                                     'rate', v.definition::jsonb #> '{options,rate}'))
  from resource.tool_versions v
 where v.project_id = t.project_id and v.tool_name = t.tool_name and v.version = t.version
   and (v.definition like '%"concurrency":%' or v.definition like '%"rate":%') and position('\u0000' in v.definition) = 0;
update resource.tools set limits = null where limits = '{}' or plain;
update state.live_calls c
   set gate = c.tool_name
  from resource.tools t
 where t.project_id = c.project_id and t.tool_name = c.tool_name and t.limits is not null;

-- What a gate remembers between two claims. A gate without a row has not been passed yet.
create table state.gates (
  project_id  text collate "C" not null references resource.projects on delete cascade,
  gate        text collate "C" not null,
  -- when the bucket of the rate is full again, and how many calls the last request got of it
  full_at     timestamptz,
  granted     integer not null default 0,
  -- the lane that was served last: the next claim goes on behind it
  last_lane   text collate "C" not null default '',
  -- of the project's own gate: the gate that was served last
  last_gate   text collate "C" not null default '',
  -- the breaker: outcomes of the current window, and until when it is open
  window_at   timestamptz,
  successes   integer not null default 0,
  failures    integer not null default 0,
  opened_at   timestamptz,
  open_until  timestamptz,
  primary key (project_id, gate)
) with (fillfactor = 70);

-- An attempt that failed and is tried again, by the tool's retry policy.
alter table state.call_leases drop constraint call_leases_ended_check;
alter table state.call_leases add constraint call_leases_ended_check check (ended in ('lapsed', 'released', 'handed_on', 'failed'));
alter table state.call_leases add column error_code text;

do $$
begin
  if exists (select from pg_roles where rolname = 'toolplane_reader') then
    grant select on state.gates to toolplane_reader;
  end if;
  if exists (select from pg_roles where rolname = 'toolplane_engine') then
    grant select, insert, update, delete on state.gates to toolplane_engine;
  end if;
end $$;
