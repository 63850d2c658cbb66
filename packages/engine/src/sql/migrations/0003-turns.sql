-- Turns: what an agent was asked, how far it has come, how it ended. Work is an inbox row under a claim.

-- One row per agent turn, from its request to its one deliverable. `active` means: the head says what it is doing.
-- request_hash tells a repeated request from another one under the same correlation; end_claim_id tells whoever ended
-- the turn that it was itself. The documents are JSON text: jsonb refuses NUL and rewrites numbers.
create table state.turns (
  project_id           text collate "C" not null,
  agent_turn_id        text collate "C" not null,
  agent_id             text collate "C" not null,
  kind                 text not null check (kind in ('turn', 'ui_action')),
  status               text not null check (status in ('queued', 'active', 'success', 'failed', 'canceled', 'timeout', 'partial')),
  correlation_id       text collate "C" not null,
  request_hash         text collate "C" not null,
  source_agent_id      text collate "C" not null,
  channel_id           text collate "C" not null,
  recursion_depth      integer not null check (recursion_depth >= 0),
  trace_id             text collate "C" not null,
  traceparent          text collate "C" not null,
  tracestate           text collate "C",
  parent_agent_id      text collate "C",
  parent_agent_turn_id text collate "C",
  parent_step_id       text collate "C",
  profile_box_id       text collate "C" not null,
  context_box_id       text collate "C" not null,
  output_box_id        text collate "C" not null,
  -- made for this turn: forgotten with it
  context_owned        boolean not null,
  output_owned         boolean not null,
  display_name         text,
  payload              text not null,
  runtime_config       text not null,
  metadata             text not null,
  -- steps that were committed
  step_count           integer not null default 0,
  -- the epoch it ended in; while it lives the head has it
  turn_epoch           bigint not null default 0,
  deliverable_card_id  text collate "C",
  error                text,
  error_code           text collate "C",
  end_claim_id         text collate "C",
  chain_seq            integer,
  chain_hash           text collate "C",
  created_at           timestamptz not null default now(),
  dispatched_at        timestamptz,
  ended_at             timestamptz,
  primary key (project_id, agent_turn_id),
  check ((ended_at is null) = (status in ('queued', 'active')))
);
-- The project comes second: led by it, a lookup by key planned while the table is empty may take one of these instead of
-- the key, and read the whole project ever after.
create unique index turns_correlation on state.turns (correlation_id, project_id);
create index turns_of_agent on state.turns (agent_id, project_id, agent_turn_id);
create index turns_of_parent on state.turns (parent_agent_turn_id, project_id, agent_turn_id) where parent_agent_turn_id is not null;
create index turns_open on state.turns (project_id, agent_turn_id) where ended_at is null;
-- two turns at once never share an output box
create unique index turns_output on state.turns (output_box_id, project_id) where ended_at is null;

-- Where an agent's last turn left its output.
alter table state.heads add column last_output_box_id text collate "C";

-- A committed step answers the worker that asks again; its cards are those it wrote, shown or not.
alter table state.steps add column request_hash text collate "C";
alter table state.steps add column outcome text;
alter table state.steps add column new_card_ids text[] not null default '{}';
create index steps_of_turn on state.steps (agent_turn_id, project_id);

-- The place of a result in its turn's hash chain: a card never changes, so the call remembers it.
alter table state.calls add column result_chain_seq integer;

-- A continuation is the right to think on, as a row (I5). claim_id fences whoever thinks; rings counts how often nobody
-- came, and ring_at says when a watchdog rings next.
alter table state.inbox drop constraint inbox_message_type_check;
alter table state.inbox add constraint inbox_message_type_check
  check (message_type in ('turn', 'ui_action', 'tool_result', 'timeout', 'stop', 'continuation'));
alter table state.inbox
  add column claim_id         text collate "C",
  add column claim_expires_at timestamptz,
  add column worker           text,
  add column rings            integer not null default 0,
  add column ring_at          timestamptz not null default now() + interval '5 seconds';
drop index state.inbox_due;
drop index state.inbox_once;
create unique index inbox_once on state.inbox
  (agent_turn_id, project_id, agent_id, correlation_id, (case message_type when 'timeout' then 'tool_result' else message_type end));
drop index state.inbox_open;
create index inbox_live on state.inbox (project_id, agent_id, next_retry_at) where archived_at is null and status <> 'queued';
create index inbox_queued on state.inbox (project_id, agent_id, created_at, inbox_id) where status = 'queued';
create index inbox_ring on state.inbox (ring_at) where status in ('pending', 'deferred');
create index inbox_claims on state.inbox (claim_expires_at) where status = 'processing';

-- Who made, changed or owns whom.
create table state.identity_edges (
  project_id      text collate "C" not null,
  edge_id         text collate "C" not null,
  channel_id      text collate "C" not null,
  action          text not null,
  source_agent_id text collate "C",
  target_agent_id text collate "C" not null,
  trace_id        text collate "C",
  parent_step_id  text collate "C",
  metadata        jsonb not null default '{}',
  created_at      timestamptz not null default now(),
  primary key (project_id, edge_id)
);

-- Work that one call split among several agents.
create table state.batches (
  project_id           text collate "C" not null,
  batch_id             text collate "C" not null,
  status               text not null check (status in ('running', 'success', 'partial', 'failed', 'timeout')),
  parent_tool_call_id  text collate "C" not null,
  parent_agent_id      text collate "C" not null,
  parent_agent_turn_id text collate "C" not null,
  parent_step_id       text collate "C",
  fail_fast            boolean not null default false,
  deadline_at          timestamptz not null,
  created_at           timestamptz not null default now(),
  ended_at             timestamptz,
  primary key (project_id, batch_id)
);
create unique index batches_of_call on state.batches (parent_tool_call_id, project_id);
create index batches_open on state.batches (deadline_at) where ended_at is null;

create table state.batch_tasks (
  project_id      text collate "C" not null,
  batch_id        text collate "C" not null,
  task_index      integer not null,
  status          text not null default 'pending' check (status in
                    ('pending', 'dispatched', 'success', 'failed', 'canceled', 'timeout', 'partial')),
  agent_id        text collate "C" not null,
  agent_turn_id   text collate "C",
  output_box_id   text collate "C",
  attempts        integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  error           text,
  task            text not null,
  result_view     text,
  primary key (project_id, batch_id, task_index),
  foreign key (project_id, batch_id) references state.batches on delete cascade
);
create index batch_tasks_due on state.batch_tasks (next_attempt_at) where status = 'pending';
create index batch_tasks_of_turn on state.batch_tasks (project_id, agent_turn_id) where status = 'dispatched';

do $$
begin
  if exists (select from pg_roles where rolname = 'toolplane_reader') then
    grant select on state.turns, state.identity_edges, state.batches, state.batch_tasks to toolplane_reader;
  end if;
  if exists (select from pg_roles where rolname = 'toolplane_engine') then
    grant select, insert, update, delete on state.turns, state.identity_edges, state.batches, state.batch_tasks to toolplane_engine;
  end if;
end $$;
