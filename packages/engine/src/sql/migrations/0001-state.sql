-- The first schema. Four rooms: resource (what is registered), cards (what was said), state (what is happening),
-- bus (what is travelling). Ids are text under collation "C": they are compared as bytes, never as words.

create schema resource;
create schema cards;
create schema state;
create schema bus;

-- ---------------------------------------------------------------------------------------------------------- resource

create table resource.projects (
  project_id text collate "C" primary key,
  title      text not null check (title <> ''),
  status     text not null default 'active' check (status in ('active', 'inactive', 'archived')),
  owner_id   text not null check (owner_id <> ''),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- The current version of each tool. A call is dispatched only while this row still says what the planner read.
create table resource.tools (
  project_id      text collate "C" not null references resource.projects on delete cascade,
  tool_name       text collate "C" not null,
  version         integer not null check (version > 0),
  definition_hash text collate "C" not null,
  status          text not null default 'active' check (status in ('active', 'paused', 'deleted')),
  -- the program that registered it (an import, a service); null when a person did
  source          text collate "C",
  -- where its commands go, and whether that is inside the engine: extracted from the definition
  target          text collate "C" not null default '',
  internal        boolean not null default false,
  updated_at      timestamptz not null default now(),
  primary key (project_id, tool_name)
);

-- Every version there ever was, as canonical text; calls keep pointing at theirs.
create table resource.tool_versions (
  project_id      text collate "C" not null,
  tool_name       text collate "C" not null,
  version         integer not null,
  definition_hash text collate "C" not null,
  definition      text not null,
  created_at      timestamptz not null default now(),
  primary key (project_id, tool_name, version),
  foreign key (project_id, tool_name) references resource.tools on delete cascade
);

create table resource.agents (
  project_id     text collate "C" not null references resource.projects on delete cascade,
  agent_id       text collate "C" not null,
  profile_box_id text collate "C",
  worker_target  text collate "C" not null,
  tags           text[] not null default '{}',
  display_name   text,
  owner_agent_id text collate "C",
  status         text not null default 'active' check (status in ('active', 'inactive')),
  metadata       jsonb not null default '{}',
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now(),
  primary key (project_id, agent_id)
);

-- name_key is the folded name: looked up and unique without regard to case.
create table resource.profiles (
  project_id     text collate "C" not null references resource.projects on delete cascade,
  name_key       text collate "C" not null,
  name           text not null,
  profile_box_id text collate "C" not null,
  worker_target  text collate "C" not null,
  tags           text[] not null default '{}',
  system_prompt  text not null default '',
  updated_at     timestamptz not null default now(),
  primary key (project_id, name_key)
);

-- ------------------------------------------------------------------------------------------------------------- cards

-- I7. A card never changes. body is RFC 8785 canonical text, hash its SHA-256; the other columns are extracted from it.
-- chain_seq / chain_hash: the card's place in its turn's hash chain, for cards written where the turn is held.
create table cards.cards (
  project_id    text collate "C" not null,
  card_id       text collate "C" not null,
  type          text collate "C" not null,
  author_id     text collate "C" not null,
  tool_call_id  text collate "C",
  agent_turn_id text collate "C",
  step_id       text collate "C",
  hash          text collate "C" not null,
  body          text not null,
  chain_seq     integer,
  chain_hash    text collate "C",
  -- a tool.result card that was written but not yet reported: used if its call ends without a report
  candidate     boolean not null default false,
  written_at    timestamptz not null default now(),
  -- written_at + ttl_seconds by this server's clock; past it the card is not read any more
  expires_at    timestamptz,
  primary key (project_id, card_id)
);
create index cards_candidates on cards.cards (project_id, tool_call_id) where candidate;

create function cards.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'card % of project % exists with other content', old.card_id, old.project_id
    using errcode = 'TP007', detail = old.card_id;
end $$;
create trigger cards_never_change before update on cards.cards for each row execute function cards.refuse_change();

create table cards.boxes (
  project_id text collate "C" not null,
  box_id     text collate "C" not null,
  parent_ids text[] not null default '{}',
  length     integer not null default 0,
  updated_at timestamptz not null default now(),
  primary key (project_id, box_id)
);
create table cards.box_cards (
  project_id text collate "C" not null,
  box_id     text collate "C" not null,
  position   integer not null,
  card_id    text collate "C" not null,
  primary key (project_id, box_id, position),
  foreign key (project_id, box_id) references cards.boxes on delete cascade
);

-- ------------------------------------------------------------------------------------------------------------- state

create table state.heads (
  project_id               text collate "C" not null,
  agent_id                 text collate "C" not null,
  status                   text not null default 'idle' check (status in ('idle', 'dispatched', 'running', 'suspended')),
  active_agent_turn_id     text collate "C",
  active_channel_id        text collate "C",
  turn_epoch               bigint not null default 0,
  active_recursion_depth   integer not null default 0,
  parent_step_id           text collate "C",
  trace_id                 text collate "C",
  profile_box_id           text collate "C",
  context_box_id           text collate "C",
  output_box_id            text collate "C",
  expecting_correlation_id text collate "C",
  waiting_tool_count       integer not null default 0,
  resume_deadline          timestamptz,
  chain_seq                integer not null default 0,
  chain_hash               text collate "C",
  updated_at               timestamptz not null default now(),
  primary key (project_id, agent_id)
);

create table state.steps (
  project_id     text collate "C" not null,
  agent_id       text collate "C" not null,
  step_id        text collate "C" not null,
  agent_turn_id  text collate "C" not null,
  channel_id     text collate "C" not null,
  parent_step_id text collate "C",
  trace_id       text collate "C",
  status         text not null,
  tool_call_ids  text[] not null default '{}',
  error          text,
  metadata       jsonb not null default '{}',
  started_at     timestamptz not null default now(),
  ended_at       timestamptz,
  primary key (project_id, agent_id, step_id)
);

-- One row is a call's request edge, waiting row, place in the queue, lease and settlement (docs/decisions: one row per call).
-- I1: settled_at is set once. I4: the waiting row is this row. I6: lease_id fences. due_at: when a watchdog must look next.
create table state.calls (
  project_id       text collate "C" not null,
  tool_call_id     text collate "C" not null,
  status           text not null check (status in
                     ('queued', 'running', 'awaiting_approval', 'success', 'failed', 'canceled', 'timeout', 'partial')),
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
  created_at       timestamptz not null default now(),
  -- the queue and the lease
  available_at     timestamptz not null default now(),
  queue_deadline   timestamptz not null,
  due_at           timestamptz,
  attempts         integer not null default 0,
  publishes        integer not null default 0,
  lease_id         text collate "C",
  lease_holder     text collate "C",
  lease_expires_at timestamptz,
  run_deadline     timestamptz,
  started_at       timestamptz,
  -- the settlement
  result_card_id   text collate "C",
  result_hash      text collate "C",
  error_code       text collate "C",
  settled_by       text collate "C",
  settled_at       timestamptz,
  applied_at       timestamptz,
  primary key (project_id, tool_call_id)
);
create index calls_claimable on state.calls (project_id, target, available_at, tool_call_id) where status = 'queued';
create index calls_due on state.calls (due_at) where due_at is not null;
create unique index calls_idempotency on state.calls (project_id, agent_id, tool_name, idempotency_key)
  where idempotency_key is not null;
create index calls_of_turn on state.calls (project_id, agent_turn_id) where not headless;

-- W-33: an inbox id lives inside its project. D-18: one row per (agent, turn, kind of message, correlation).
create table state.inbox (
  project_id      text collate "C" not null,
  inbox_id        text collate "C" not null,
  agent_id        text collate "C" not null,
  channel_id      text collate "C" not null,
  message_type    text not null check (message_type in ('turn', 'ui_action', 'tool_result', 'timeout', 'stop')),
  correlation_id  text collate "C" not null,
  agent_turn_id   text collate "C" not null,
  turn_epoch      bigint not null,
  context_headers text not null,
  payload         text not null,
  status          text not null default 'pending'
                    check (status in ('queued', 'pending', 'processing', 'deferred', 'consumed', 'error', 'skipped')),
  retry_count     integer not null default 0,
  next_retry_at   timestamptz not null default now(),
  defer_reason    text,
  last_error      text,
  processed_at    timestamptz,
  archived_at     timestamptz,
  created_at      timestamptz not null default now(),
  primary key (project_id, inbox_id)
);
-- tool_result and timeout answer the same question, so they share one slot
create unique index inbox_once on state.inbox
  (project_id, agent_id, agent_turn_id, correlation_id, (case message_type when 'timeout' then 'tool_result' else message_type end));
create index inbox_due on state.inbox (project_id, agent_id, next_retry_at) where status in ('pending', 'deferred');
create index inbox_open on state.inbox (status, created_at) where status in ('queued', 'pending', 'processing', 'deferred');

create table state.edges (
  project_id      text collate "C" not null,
  edge_id         text collate "C" not null,
  channel_id      text collate "C" not null,
  primitive       text not null check (primitive in ('enqueue', 'join')),
  edge_phase      text not null check (edge_phase in ('request', 'response')),
  source_agent_id text collate "C" not null,
  source_turn_id  text collate "C",
  source_step_id  text collate "C",
  target_agent_id text collate "C" not null,
  target_turn_id  text collate "C",
  correlation_id  text collate "C" not null,
  recursion_depth integer not null check (recursion_depth >= 0),
  trace_id        text collate "C",
  parent_step_id  text collate "C",
  metadata        jsonb not null default '{}',
  created_at      timestamptz not null default now(),
  primary key (project_id, edge_id),
  unique (project_id, correlation_id, primitive, edge_phase)
);

-- What people read as edges: the stored ones, and the two that every call row already is.
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
    from state.calls where settled_at is not null;

create table state.dead_letters (
  project_id     text collate "C" not null,
  dead_letter_id text collate "C" not null,
  kind           text not null check (kind in ('call', 'message')),
  tool_call_id   text collate "C",
  subject        text collate "C" not null,
  headers        text not null,
  payload        text not null,
  code           text collate "C" not null,
  reason         text not null,
  attempts       integer not null,
  created_at     timestamptz not null default now(),
  replayed_at    timestamptz,
  replayed_as    text collate "C",
  primary key (project_id, dead_letter_id)
);

create index dead_letters_of_call on state.dead_letters (project_id, tool_call_id) where tool_call_id is not null;

-- --------------------------------------------------------------------------------------------------------------- bus

-- The outbox, and on the postgres bus also the queue itself: a row is committed with the state that caused it (I3).
-- xid is the transaction that wrote the row: the order of the event log (see bus.durables).
create table bus.messages (
  id            bigint generated always as identity primary key,
  xid           xid8 not null default pg_current_xact_id(),
  category      text not null check (category in ('cmd', 'evt')),
  project_id    text collate "C" not null,
  subject       text collate "C" not null,
  component     text collate "C" not null,
  target        text collate "C" not null,
  headers       text not null,
  payload       text not null,
  message_id    text collate "C",
  created_at    timestamptz not null default now(),
  available_at  timestamptz not null default now(),
  deliveries    integer not null default 0,
  claim_id      text collate "C"
) with (autovacuum_vacuum_scale_factor = 0.02);
-- id last: what one transaction wrote is offered in the order it was written
create index messages_commands on bus.messages (component, target, available_at, id) where category = 'cmd';
create index messages_events on bus.messages (xid, id) where category = 'evt';
-- a message id belongs to its project: another project can neither see nor occupy it
create unique index messages_dedupe on bus.messages (project_id, message_id) where message_id is not null;

-- A durable subscription to events, and how far it has read. Everything up to (xid, id) is read, except what the
-- transactions in `pending` wrote: they were still open when the position passed them. So a late commit is never
-- skipped, and an open transaction holds nobody up. `rounds` counts moves: a reader whose snapshot is older than the
-- position it locked gives up instead of moving it back.
create table bus.durables (
  durable    text collate "C" primary key,
  pattern    text collate "C" not null,
  xid        xid8 not null,
  id         bigint not null,
  pending    xid8[] not null,
  rounds     bigint not null default 0,
  created_at timestamptz not null default now(),
  seen_at    timestamptz not null default now()
);
-- What a durable has taken from the log and not finished. No foreign keys: one on messages would run a trigger for each
-- acknowledged command, and a row whose event is gone is dropped by the next claims.
create table bus.deliveries (
  durable      text collate "C" not null,
  id           bigint not null,
  available_at timestamptz not null default now(),
  deliveries   integer not null default 0,
  claim_id     text collate "C",
  primary key (durable, id)
);
create index deliveries_due on bus.deliveries (durable, available_at, id);
create index deliveries_of_message on bus.deliveries (id);

-- Lossy streams between processes: never synced, trimmed by age. Readers remember a snapshot, hence xid.
create unlogged table bus.stream_items (
  id         bigint generated always as identity,
  xid        xid8 not null default pg_current_xact_id(),
  origin     text collate "C" not null,
  subject    text collate "C" not null,
  payload    text not null,
  created_at timestamptz not null default now()
);
create index stream_items_order on bus.stream_items (xid, id);

-- ------------------------------------------------------------------------------------------------------------- roles

-- Roles belong to the whole server, so another database may have made them, or be making them right now. A user who may
-- not create roles runs the engine as the owner of the tables instead.
do $$
declare
  who text;
begin
  foreach who in array array['toolplane_engine', 'toolplane_reader'] loop
    begin
      if not exists (select from pg_roles where rolname = who) then execute format('create role %I nologin', who); end if;
    exception when duplicate_object or unique_violation then null;
              when insufficient_privilege then raise notice 'role % was not created: the current user may not create roles', who;
    end;
  end loop;
  if exists (select from pg_roles where rolname = 'toolplane_reader') then
    grant usage on schema resource, cards, state, bus to toolplane_reader;
    grant select on all tables in schema resource, cards, state, bus to toolplane_reader;
  end if;
  if exists (select from pg_roles where rolname = 'toolplane_engine') then
    grant usage on schema resource, cards, state, bus to toolplane_engine;
    grant select, insert, update, delete on all tables in schema resource, state, bus to toolplane_engine;
    -- Cards: no update but the one the trigger turns into a refusal (insert ... on conflict needs the right to try).
    grant select, insert, delete on cards.cards to toolplane_engine;
    grant update (hash) on cards.cards to toolplane_engine;
    grant select, insert, update, delete on cards.boxes, cards.box_cards to toolplane_engine;
    grant usage on all sequences in schema bus to toolplane_engine;
  end if;
end $$;
