-- A call that has settled never changes hands again, so it stands apart: what queues, leases and deadlines touch is the
-- small table of live calls, however long the past is; a settlement moves the row (docs/decisions: live and past calls).
-- I1: a row leaves live_calls once, and past_calls_pkey holds one settlement of a call. I4: the waiting row is the live row.
-- state.calls stays what people and the engine read: both, as one.

drop view state.execution_edges;
-- An older version may still be at work: what it writes is moved, or it waits; nothing falls between two of these statements.
lock table state.calls in access exclusive mode;

create table state.live_calls (
  project_id       text collate "C" not null,
  tool_call_id     text collate "C" not null,
  status           text not null check (status in ('queued', 'running', 'awaiting_approval')),
  -- who asked, where it goes; never changes
  agent_id         text collate "C" not null,
  agent_turn_id    text collate "C" not null,
  turn_epoch       bigint not null,
  step_id          text collate "C" not null,
  headless         boolean not null,
  channel_id       text collate "C" not null,
  provider_call_id text,
  tool_name        text collate "C" not null,
  tool_version     integer not null,
  definition_hash  text collate "C" not null,
  subject          text collate "C" not null,
  target           text collate "C" not null,
  actor_id         text collate "C" not null,
  after_execution  text not null check (after_execution in ('suspend', 'terminate')),
  call_card_id     text collate "C" not null,
  call_card_hash   text collate "C" not null,
  headers          text not null,
  lineage          text not null,
  recursion_depth  integer not null check (recursion_depth >= 0),
  trace_id         text collate "C" not null,
  retry_safe       boolean not null,
  plain            boolean not null,
  timeout_seconds  double precision not null,
  queue_timeout_seconds double precision not null,
  idempotency_key  text collate "C",
  arguments_hash   text collate "C" not null,
  retry_of         text collate "C",
  chain_hash       text collate "C",
  session          text collate "C",
  created_at       timestamptz not null default now(),
  -- the queue and the lease; due_at: when a watchdog must look next. I6: lease_id fences.
  available_at     timestamptz not null default now(),
  queue_deadline   timestamptz not null,
  due_at           timestamptz not null,
  attempts         integer not null default 0,
  publishes        integer not null default 0,
  lease_id         text collate "C",
  lease_holder     text collate "C",
  lease_expires_at timestamptz,
  run_deadline     timestamptz,
  started_at       timestamptz,
  primary key (project_id, tool_call_id)
-- every row dies here: what it leaves behind is cleared away by how much dies, not by how much lives
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);

insert into state.live_calls (
  project_id, tool_call_id, status, agent_id, agent_turn_id, turn_epoch, step_id, headless, channel_id, provider_call_id,
  tool_name, tool_version, definition_hash, subject, target, actor_id, after_execution, call_card_id, call_card_hash, headers,
  lineage, recursion_depth, trace_id, retry_safe, plain, timeout_seconds, queue_timeout_seconds, idempotency_key,
  arguments_hash, retry_of, chain_hash, session, created_at, available_at, queue_deadline, due_at, attempts, publishes,
  lease_id, lease_holder, lease_expires_at, run_deadline, started_at)
select
  project_id, tool_call_id, status, agent_id, agent_turn_id, turn_epoch, step_id, headless, channel_id, provider_call_id,
  tool_name, tool_version, definition_hash, subject, target, actor_id, after_execution, call_card_id, call_card_hash, headers,
  lineage, recursion_depth, trace_id, retry_safe, plain, timeout_seconds, queue_timeout_seconds, idempotency_key,
  arguments_hash, retry_of, chain_hash, session, created_at, available_at, queue_deadline, coalesce(due_at, now()), attempts,
  publishes, lease_id, lease_holder, lease_expires_at, run_deadline, started_at
  from state.calls where settled_at is null;

-- Calls of no session are one range in the order of their time, and every session is a range of its own (0004).
create index live_calls_claimable on state.live_calls (project_id, target, session, available_at, tool_call_id) where status = 'queued';
create index live_calls_due on state.live_calls (due_at);
create index live_calls_of_turn on state.live_calls (project_id, agent_turn_id) where not headless;
-- Never two live leases of one session, whoever hands them out.
create unique index live_calls_session_running on state.live_calls (project_id, session)
  where status = 'running' and session is not null;
create index live_calls_waiting on state.live_calls (project_id, tool_call_id) where status = 'awaiting_approval';

-- I12: a key lives as long as its call, live or past.
create table state.call_keys (
  project_id      text collate "C" not null,
  agent_id        text collate "C" not null,
  tool_name       text collate "C" not null,
  idempotency_key text collate "C" not null,
  tool_call_id    text collate "C" not null,
  primary key (project_id, agent_id, tool_name, idempotency_key)
);
insert into state.call_keys
select project_id, agent_id, tool_name, idempotency_key, tool_call_id from state.calls where idempotency_key is not null;

delete from state.calls where settled_at is null;
alter table state.calls rename to past_calls;
alter table state.past_calls rename constraint calls_pkey to past_calls_pkey;
alter table state.past_calls rename constraint calls_after_execution_check to past_calls_after_execution_check;
alter table state.past_calls rename constraint calls_recursion_depth_check to past_calls_recursion_depth_check;
alter index state.calls_of_turn rename to past_calls_of_turn;
drop index state.calls_claimable, state.calls_due, state.calls_idempotency, state.calls_session_running, state.calls_waiting;
alter table state.past_calls
  drop column due_at,
  alter column created_at drop default,
  alter column available_at drop default,
  alter column attempts drop default,
  alter column publishes drop default,
  alter column settled_at set not null,
  drop constraint calls_status_check,
  add constraint past_calls_status_check check (status in ('success', 'failed', 'canceled', 'timeout', 'partial'));

create view state.calls as
  select project_id, tool_call_id, status, agent_id, agent_turn_id, turn_epoch, step_id, headless, channel_id,
         provider_call_id, tool_name, tool_version, definition_hash, subject, target, actor_id, after_execution, call_card_id,
         call_card_hash, headers, lineage, recursion_depth, trace_id, retry_safe, plain, timeout_seconds,
         queue_timeout_seconds, idempotency_key, arguments_hash, retry_of, chain_hash, session, created_at, available_at,
         queue_deadline, due_at, attempts, publishes, lease_id, lease_holder, lease_expires_at, run_deadline, started_at,
         null::text collate "C" as result_card_id, null::text collate "C" as result_hash, null::text collate "C" as error_code,
         null::text collate "C" as settled_by, null::timestamptz as settled_at, null::timestamptz as applied_at,
         null::integer as result_chain_seq
    from state.live_calls
  union all
  select project_id, tool_call_id, status, agent_id, agent_turn_id, turn_epoch, step_id, headless, channel_id,
         provider_call_id, tool_name, tool_version, definition_hash, subject, target, actor_id, after_execution, call_card_id,
         call_card_hash, headers, lineage, recursion_depth, trace_id, retry_safe, plain, timeout_seconds,
         queue_timeout_seconds, idempotency_key, arguments_hash, retry_of, chain_hash, session, created_at, available_at,
         queue_deadline, null::timestamptz, attempts, publishes, lease_id, lease_holder, lease_expires_at, run_deadline,
         started_at, result_card_id, result_hash, error_code, settled_by, settled_at, applied_at, result_chain_seq
    from state.past_calls;

-- What people read as edges: the stored ones, and the two that every call already is.
create view state.execution_edges as
  select project_id, edge_id, channel_id, primitive, edge_phase, source_agent_id, source_turn_id, source_step_id,
         target_agent_id, target_turn_id, correlation_id, recursion_depth, trace_id, parent_step_id, metadata, created_at
    from state.edges
  union all
  select project_id, 'edge_' || tool_call_id || '_req', channel_id, 'tool_call', 'request', agent_id, agent_turn_id, step_id,
         agent_id, agent_turn_id, tool_call_id, recursion_depth, trace_id, lineage::jsonb ->> 'parent_step_id',
         jsonb_build_object('subject', subject, 'tool_name', tool_name), created_at
    from state.calls
  union all
  select project_id, 'edge_' || tool_call_id || '_res', channel_id, 'report', 'response', settled_by, null, null,
         agent_id, agent_turn_id, tool_call_id, recursion_depth, trace_id, lineage::jsonb ->> 'parent_step_id',
         jsonb_build_object('tool_result_card_id', result_card_id, 'status', status), settled_at
    from state.past_calls;

do $$
begin
  if exists (select from pg_roles where rolname = 'toolplane_reader') then
    grant select on state.live_calls, state.call_keys, state.calls, state.execution_edges to toolplane_reader;
  end if;
  if exists (select from pg_roles where rolname = 'toolplane_engine') then
    grant select, insert, update, delete on state.live_calls, state.call_keys to toolplane_engine;
    grant select on state.calls, state.execution_edges to toolplane_engine;
  end if;
end $$;
