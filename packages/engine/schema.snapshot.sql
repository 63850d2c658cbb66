-- What the migrations make, read back from the catalog: a change of the schema shows here, in the review of the
-- migration that made it. Written by scripts/schema-snapshot.ts, never by hand and never applied.

grant usage on schema bus to toolplane_engine;
grant usage on schema bus to toolplane_reader;
grant usage on schema cards to toolplane_engine;
grant usage on schema cards to toolplane_reader;
grant usage on schema resource to toolplane_engine;
grant usage on schema resource to toolplane_reader;
grant usage on schema state to toolplane_engine;
grant usage on schema state to toolplane_reader;
grant usage on bus.message_ids to toolplane_engine;
grant usage on bus.stream_items_id_seq to toolplane_engine;

CREATE OR REPLACE FUNCTION cards.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'card % of project % exists with other content', old.card_id, old.project_id
    using errcode = 'TP007', detail = old.card_id;
end $function$;
CREATE OR REPLACE FUNCTION state.sure(is_so boolean)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  if is_so then return true; end if;
  raise exception 'toolplane planned this change from memory that is not true any more; it reads and plans again, nothing is lost'
    using errcode = 'TP008';
end $function$;

create table bus.attached_targets (
  project_id text collate "C" not null,
  target text collate "C" not null,
  attached_at timestamp with time zone not null default now(),
  fetched_at timestamp with time zone default now(),
  constraint attached_targets_pkey PRIMARY KEY (project_id, target),
  constraint attached_targets_project_id_fkey FOREIGN KEY (project_id) REFERENCES resource.projects(project_id) ON DELETE CASCADE
);
grant delete, insert, select, update on bus.attached_targets to toolplane_engine;
grant select on bus.attached_targets to toolplane_reader;

create table bus.carrier (
  one boolean not null default true,
  kind text not null,
  moving_before xid8,
  constraint carrier_pkey PRIMARY KEY (one),
  constraint carrier_kind_check CHECK ((kind = ANY (ARRAY['postgres'::text, 'external'::text]))),
  constraint carrier_one_check CHECK (one)
);
grant delete, insert, select, update on bus.carrier to toolplane_engine;
grant select on bus.carrier to toolplane_reader;

create view bus.events (
  id bigint,
  part integer,
  xid xid8,
  project_id text collate "C",
  subject text collate "C",
  headers text,
  payload text,
  message_id text collate "C",
  created_at timestamp with time zone,
  sent boolean
);
grant select on bus.events to toolplane_engine;
grant select on bus.events to toolplane_reader;

create table bus.messages (
  id bigint not null default 
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN nextval('bus.message_ids'::regclass)
    ELSE NULL::bigint
END,
  xid xid8 not null default pg_current_xact_id(),
  category text not null,
  project_id text collate "C" not null,
  subject text collate "C" not null,
  component text collate "C" not null,
  target text collate "C" not null,
  headers text not null,
  payload text not null,
  message_id text collate "C",
  created_at timestamp with time zone not null default now(),
  available_at timestamp with time zone not null default now(),
  deliveries integer not null default 0,
  claim_id text collate "C",
  events integer not null default 0,
  constraint messages_pkey PRIMARY KEY (id),
  constraint messages_category_check CHECK ((category = ANY (ARRAY['cmd'::text, 'evt'::text])))
) with (autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX messages_commands ON bus.messages USING btree (component, target, available_at, id) WHERE (category = 'cmd'::text);
CREATE UNIQUE INDEX messages_dedupe ON bus.messages USING btree (project_id, message_id) WHERE (message_id IS NOT NULL);
CREATE INDEX messages_due ON bus.messages USING btree (available_at, id);
CREATE INDEX messages_events ON bus.messages USING btree (xid, id) WHERE (category = 'evt'::text);
CREATE INDEX messages_events_of_project ON bus.messages USING btree (project_id, id) WHERE ((category = 'evt'::text) AND (id > 0));
grant delete, insert, select, update on bus.messages to toolplane_engine;
grant select on bus.messages to toolplane_reader;

create table bus.sent_events (
  xid xid8 not null,
  id bigint not null,
  project_id text collate "C" not null,
  subject text collate "C" not null,
  headers text not null,
  payload text not null,
  created_at timestamp with time zone not null,
  events integer not null default 0,
  constraint sent_events_pkey PRIMARY KEY (xid, id)
);
CREATE INDEX sent_events_of_project ON bus.sent_events USING btree (project_id, id);
grant delete, insert, select, update on bus.sent_events to toolplane_engine;
grant select on bus.sent_events to toolplane_reader;

create unlogged table bus.stream_items (
  id bigint not null generated always as identity,
  xid xid8 not null default pg_current_xact_id(),
  origin text collate "C" not null,
  subject text collate "C" not null,
  payload text not null,
  created_at timestamp with time zone not null default now()
);
CREATE INDEX stream_items_order ON bus.stream_items USING btree (xid, id);
grant delete, insert, select, update on bus.stream_items to toolplane_engine;
grant select on bus.stream_items to toolplane_reader;

create table cards.box_cards (
  project_id text collate "C" not null,
  box_id text collate "C" not null,
  "position" integer not null,
  card_id text collate "C" not null,
  constraint box_cards_pkey PRIMARY KEY (project_id, box_id, "position"),
  constraint box_cards_project_id_box_id_fkey FOREIGN KEY (project_id, box_id) REFERENCES cards.boxes(project_id, box_id) ON DELETE CASCADE
);
CREATE INDEX box_cards_of_card ON cards.box_cards USING btree (card_id);
grant delete, insert, select, update on cards.box_cards to toolplane_engine;
grant select on cards.box_cards to toolplane_reader;

create table cards.boxes (
  project_id text collate "C" not null,
  box_id text collate "C" not null,
  parent_ids text[] not null default '{}'::text[],
  length integer not null default 0,
  updated_at timestamp with time zone not null default now(),
  constraint boxes_pkey PRIMARY KEY (project_id, box_id)
) with (fillfactor=70);
grant delete, insert, select, update on cards.boxes to toolplane_engine;
grant select on cards.boxes to toolplane_reader;

create table cards.cards (
  project_id text collate "C" not null,
  card_id text collate "C" not null,
  type text collate "C" not null,
  author_id text collate "C" not null,
  tool_call_id text collate "C",
  agent_turn_id text collate "C",
  step_id text collate "C",
  hash text collate "C" not null,
  body text not null,
  chain_seq integer,
  chain_hash text collate "C",
  candidate boolean not null default false,
  written_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone,
  slot boolean not null default false,
  constraint cards_pkey PRIMARY KEY (project_id, card_id)
);
CREATE INDEX cards_candidates ON cards.cards USING btree (project_id, tool_call_id) WHERE candidate;
CREATE UNIQUE INDEX cards_result_slot ON cards.cards USING btree (project_id, tool_call_id, author_id) WHERE slot;
CREATE TRIGGER cards_never_change BEFORE UPDATE ON cards.cards FOR EACH ROW EXECUTE FUNCTION cards.refuse_change();
grant delete, insert, select on cards.cards to toolplane_engine;
grant select on cards.cards to toolplane_reader;
grant update (hash) on cards.cards to toolplane_engine;

create table resource.agents (
  project_id text collate "C" not null,
  agent_id text collate "C" not null,
  profile_box_id text collate "C",
  worker_target text collate "C" not null,
  tags text[] not null default '{}'::text[],
  display_name text,
  owner_agent_id text collate "C",
  status text not null default 'active'::text,
  metadata jsonb not null default '{}'::jsonb,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  made_for text collate "C",
  depth integer not null default 0,
  constraint agents_pkey PRIMARY KEY (project_id, agent_id),
  constraint agents_project_id_fkey FOREIGN KEY (project_id) REFERENCES resource.projects(project_id) ON DELETE CASCADE,
  constraint agents_depth_check CHECK ((depth >= 0)),
  constraint agents_status_check CHECK ((status = ANY (ARRAY['active'::text, 'inactive'::text])))
);
CREATE INDEX agents_made_for_tasks ON resource.agents USING btree (project_id, created_at, agent_id) WHERE (made_for IS NOT NULL);
CREATE INDEX agents_of_owner ON resource.agents USING btree (owner_agent_id, project_id) WHERE (owner_agent_id IS NOT NULL);
grant delete, insert, select, update on resource.agents to toolplane_engine;
grant select on resource.agents to toolplane_reader;

create table resource.audit (
  audit_id bigint not null generated always as identity,
  project_id text collate "C",
  at timestamp with time zone not null default now(),
  token_id text collate "C",
  role text collate "C" not null,
  actor text not null,
  door text collate "C" not null,
  act text collate "C" not null,
  subject text not null,
  detail jsonb not null default '{}'::jsonb,
  constraint audit_pkey PRIMARY KEY (audit_id),
  constraint audit_project_id_fkey FOREIGN KEY (project_id) REFERENCES resource.projects(project_id) ON DELETE CASCADE
);
CREATE INDEX audit_of_project ON resource.audit USING btree (project_id, audit_id);
grant insert, select on resource.audit to toolplane_engine;
grant select on resource.audit to toolplane_reader;

create table resource.browser_sessions (
  session_id text collate "C" not null,
  secret_hash text collate "C" not null,
  token_id text collate "C" not null,
  browser text not null default ''::text,
  created_at timestamp with time zone not null default now(),
  seen_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  idle_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint browser_sessions_pkey PRIMARY KEY (session_id),
  constraint browser_sessions_token_id_fkey FOREIGN KEY (token_id) REFERENCES resource.tokens(token_id) ON DELETE CASCADE
);
CREATE INDEX browser_sessions_expiry ON resource.browser_sessions USING btree (expires_at);
CREATE INDEX browser_sessions_of_token ON resource.browser_sessions USING btree (token_id, created_at) WHERE (ended_at IS NULL);
grant delete, insert, select, update on resource.browser_sessions to toolplane_engine;
grant select (session_id, token_id, browser, created_at, seen_at, expires_at, idle_at, ended_at) on resource.browser_sessions to toolplane_reader;

create table resource.login_codes (
  code_hash text collate "C" not null,
  token_id text collate "C" not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  constraint login_codes_pkey PRIMARY KEY (code_hash),
  constraint login_codes_token_id_fkey FOREIGN KEY (token_id) REFERENCES resource.tokens(token_id) ON DELETE CASCADE
);
CREATE INDEX login_codes_expiry ON resource.login_codes USING btree (expires_at);
CREATE INDEX login_codes_of_token ON resource.login_codes USING btree (token_id);
grant delete, insert, select, update on resource.login_codes to toolplane_engine;

create table resource.profiles (
  project_id text collate "C" not null,
  name_key text collate "C" not null,
  name text not null,
  profile_box_id text collate "C" not null,
  worker_target text collate "C" not null,
  tags text[] not null default '{}'::text[],
  system_prompt text not null default ''::text,
  updated_at timestamp with time zone not null default now(),
  constraint profiles_pkey PRIMARY KEY (project_id, name_key),
  constraint profiles_project_id_fkey FOREIGN KEY (project_id) REFERENCES resource.projects(project_id) ON DELETE CASCADE
);
grant delete, insert, select, update on resource.profiles to toolplane_engine;
grant select on resource.profiles to toolplane_reader;

create table resource.projects (
  project_id text collate "C" not null,
  title text not null,
  status text not null default 'active'::text,
  owner_id text not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  limits jsonb not null default '{}'::jsonb,
  constraint projects_pkey PRIMARY KEY (project_id),
  constraint projects_owner_id_check CHECK ((owner_id <> ''::text)),
  constraint projects_status_check CHECK ((status = ANY (ARRAY['active'::text, 'inactive'::text, 'archived'::text]))),
  constraint projects_title_check CHECK ((title <> ''::text))
);
grant delete, insert, select, update on resource.projects to toolplane_engine;
grant select on resource.projects to toolplane_reader;

create table resource.tokens (
  token_id text collate "C" not null,
  secret_hash text collate "C" not null,
  role text not null,
  project_id text collate "C",
  actor_id text collate "C",
  targets text[] not null default '{}'::text[],
  label text not null default ''::text,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint tokens_pkey PRIMARY KEY (token_id),
  constraint tokens_project_id_fkey FOREIGN KEY (project_id) REFERENCES resource.projects(project_id) ON DELETE CASCADE,
  constraint tokens_check CHECK (((role = 'admin'::text) OR (project_id IS NOT NULL))),
  constraint tokens_check1 CHECK (((role <> 'tool'::text) OR ((actor_id IS NOT NULL) AND (cardinality(targets) > 0)))),
  constraint tokens_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'operator'::text, 'agent'::text, 'tool'::text, 'viewer'::text])))
);
CREATE INDEX tokens_of_actor ON resource.tokens USING btree (actor_id, project_id) WHERE ((actor_id IS NOT NULL) AND (revoked_at IS NULL));
grant delete, insert, select, update on resource.tokens to toolplane_engine;
grant select (token_id, role, project_id, actor_id, targets, label, created_at, expires_at, revoked_at) on resource.tokens to toolplane_reader;

create table resource.tool_versions (
  project_id text collate "C" not null,
  tool_name text collate "C" not null,
  version integer not null,
  definition_hash text collate "C" not null,
  definition text not null,
  created_at timestamp with time zone not null default now(),
  code_hash text collate "C" not null,
  accepted boolean not null default false,
  constraint tool_versions_pkey PRIMARY KEY (project_id, tool_name, version),
  constraint tool_versions_project_id_tool_name_fkey FOREIGN KEY (project_id, tool_name) REFERENCES resource.tools(project_id, tool_name) ON DELETE CASCADE
);
CREATE INDEX tool_versions_of_code ON resource.tool_versions USING btree (project_id, code_hash);
CREATE INDEX tool_versions_of_hash ON resource.tool_versions USING btree (project_id, definition_hash);
grant delete, insert, select, update on resource.tool_versions to toolplane_engine;
grant select on resource.tool_versions to toolplane_reader;

create table resource.tools (
  project_id text collate "C" not null,
  tool_name text collate "C" not null,
  version integer not null,
  definition_hash text collate "C" not null,
  status text not null default 'active'::text,
  source text collate "C",
  target text collate "C" not null default ''::text,
  internal boolean not null default false,
  updated_at timestamp with time zone not null default now(),
  plain boolean not null default false,
  guarded_version integer,
  pending_version integer,
  pending_source text collate "C",
  deleted_by text,
  limits jsonb,
  constraint tools_pkey PRIMARY KEY (project_id, tool_name),
  constraint tools_project_id_fkey FOREIGN KEY (project_id) REFERENCES resource.projects(project_id) ON DELETE CASCADE,
  constraint tools_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'deleted'::text]))),
  constraint tools_version_check CHECK ((version > 0))
);
CREATE INDEX tools_plain ON resource.tools USING btree (project_id, target) WHERE (plain AND (status <> 'deleted'::text));
grant delete, insert, select, update on resource.tools to toolplane_engine;
grant select on resource.tools to toolplane_reader;

create table resource.webhooks (
  project_id text collate "C" not null,
  webhook_id text collate "C" not null,
  tool_call_id text collate "C",
  url text not null,
  events text[] not null,
  secret text not null,
  key_id text collate "C" not null,
  created_by text not null,
  created_at timestamp with time zone not null default now(),
  ended_at timestamp with time zone,
  constraint webhooks_pkey PRIMARY KEY (project_id, webhook_id),
  constraint webhooks_project_id_fkey FOREIGN KEY (project_id) REFERENCES resource.projects(project_id) ON DELETE CASCADE
);
CREATE INDEX webhooks_by_age ON resource.webhooks USING btree (created_at);
CREATE INDEX webhooks_of_call ON resource.webhooks USING btree (project_id, tool_call_id) WHERE (tool_call_id IS NOT NULL);
CREATE INDEX webhooks_of_project ON resource.webhooks USING btree (project_id, webhook_id) WHERE (tool_call_id IS NULL);
CREATE INDEX webhooks_open ON resource.webhooks USING btree (project_id) WHERE (ended_at IS NULL);
grant delete, insert, select, update on resource.webhooks to toolplane_engine;
grant select (project_id, webhook_id, tool_call_id, url, events, created_by, created_at) on resource.webhooks to toolplane_reader;

create table state.batch_tasks (
  project_id text collate "C" not null,
  batch_id text collate "C" not null,
  task_index integer not null,
  status text not null default 'pending'::text,
  agent_id text collate "C" not null,
  agent_turn_id text collate "C",
  output_box_id text collate "C",
  attempts integer not null default 0,
  next_attempt_at timestamp with time zone not null default now(),
  error text,
  task text not null,
  result_view text,
  constraint batch_tasks_pkey PRIMARY KEY (project_id, batch_id, task_index),
  constraint batch_tasks_project_id_batch_id_fkey FOREIGN KEY (project_id, batch_id) REFERENCES state.batches(project_id, batch_id) ON DELETE CASCADE,
  constraint batch_tasks_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'dispatched'::text, 'success'::text, 'failed'::text, 'canceled'::text, 'timeout'::text, 'partial'::text])))
);
CREATE INDEX batch_tasks_due ON state.batch_tasks USING btree (next_attempt_at) WHERE (status = 'pending'::text);
CREATE INDEX batch_tasks_of_turn ON state.batch_tasks USING btree (project_id, agent_turn_id) WHERE (status = 'dispatched'::text);
grant delete, insert, select, update on state.batch_tasks to toolplane_engine;
grant select on state.batch_tasks to toolplane_reader;

create table state.batches (
  project_id text collate "C" not null,
  batch_id text collate "C" not null,
  status text not null,
  parent_tool_call_id text collate "C" not null,
  parent_agent_id text collate "C" not null,
  parent_agent_turn_id text collate "C" not null,
  parent_step_id text collate "C",
  fail_fast boolean not null default false,
  deadline_at timestamp with time zone not null,
  created_at timestamp with time zone not null default now(),
  ended_at timestamp with time zone,
  constraint batches_pkey PRIMARY KEY (project_id, batch_id),
  constraint batches_status_check CHECK ((status = ANY (ARRAY['running'::text, 'success'::text, 'partial'::text, 'failed'::text, 'timeout'::text])))
);
CREATE UNIQUE INDEX batches_of_call ON state.batches USING btree (parent_tool_call_id, project_id);
CREATE INDEX batches_open ON state.batches USING btree (deadline_at) WHERE (ended_at IS NULL);
grant delete, insert, select, update on state.batches to toolplane_engine;
grant select on state.batches to toolplane_reader;

create table state.call_diagnostics (
  project_id text collate "C" not null,
  tool_call_id text collate "C" not null,
  name text not null,
  message text not null,
  stack text not null,
  created_at timestamp with time zone not null default now(),
  constraint call_diagnostics_pkey PRIMARY KEY (project_id, tool_call_id)
);
grant delete, insert, select on state.call_diagnostics to toolplane_engine;

create table state.call_keys (
  project_id text collate "C" not null,
  agent_id text collate "C" not null,
  tool_name text collate "C" not null,
  idempotency_key text collate "C" not null,
  tool_call_id text collate "C" not null,
  constraint call_keys_pkey PRIMARY KEY (project_id, agent_id, tool_name, idempotency_key)
);
grant delete, insert, select, update on state.call_keys to toolplane_engine;
grant select on state.call_keys to toolplane_reader;

create table state.call_leases (
  project_id text collate "C" not null,
  tool_call_id text collate "C" not null,
  lease_id text collate "C" not null,
  attempt integer not null,
  holder text,
  started_at timestamp with time zone,
  ended_at timestamp with time zone not null default clock_timestamp(),
  ended text not null,
  error_code text,
  constraint call_leases_pkey PRIMARY KEY (project_id, tool_call_id, lease_id),
  constraint call_leases_ended_check CHECK ((ended = ANY (ARRAY['lapsed'::text, 'released'::text, 'handed_on'::text, 'failed'::text])))
);
grant delete, insert, select, update on state.call_leases to toolplane_engine;
grant select on state.call_leases to toolplane_reader;

create view state.calls (
  project_id text collate "C",
  tool_call_id text collate "C",
  status text,
  agent_id text collate "C",
  agent_turn_id text collate "C",
  turn_epoch bigint,
  step_id text collate "C",
  headless boolean,
  channel_id text collate "C",
  provider_call_id text,
  tool_name text collate "C",
  tool_version integer,
  definition_hash text collate "C",
  subject text collate "C",
  target text collate "C",
  actor_id text collate "C",
  after_execution text,
  call_card_id text collate "C",
  call_card_hash text collate "C",
  headers text,
  lineage text,
  recursion_depth integer,
  trace_id text collate "C",
  retry_safe boolean,
  plain boolean,
  timeout_seconds double precision,
  queue_timeout_seconds double precision,
  idempotency_key text collate "C",
  arguments_hash text collate "C",
  retry_of text collate "C",
  chain_hash text collate "C",
  session text collate "C",
  created_at timestamp with time zone,
  available_at timestamp with time zone,
  queue_deadline timestamp with time zone,
  due_at timestamp with time zone,
  attempts integer,
  publishes integer,
  lease_id text collate "C",
  lease_holder text collate "C",
  lease_expires_at timestamp with time zone,
  run_deadline timestamp with time zone,
  started_at timestamp with time zone,
  result_card_id text collate "C",
  result_hash text collate "C",
  error_code text collate "C",
  settled_by text collate "C",
  settled_at timestamp with time zone,
  applied_at timestamp with time zone,
  result_chain_seq integer,
  approval_hash text collate "C",
  result_chain_hash text collate "C"
);
grant select on state.calls to toolplane_engine;
grant select on state.calls to toolplane_reader;

create table state.dead_letters (
  project_id text collate "C" not null,
  dead_letter_id text collate "C" not null,
  kind text not null,
  tool_call_id text collate "C",
  subject text collate "C" not null,
  headers text not null,
  payload text not null,
  code text collate "C" not null,
  reason text not null,
  attempts integer not null,
  created_at timestamp with time zone not null default now(),
  replayed_at timestamp with time zone,
  replayed_as text collate "C",
  lost_id text collate "C",
  constraint dead_letters_pkey PRIMARY KEY (project_id, dead_letter_id),
  constraint dead_letters_kind_check CHECK ((kind = ANY (ARRAY['call'::text, 'message'::text])))
);
CREATE UNIQUE INDEX dead_letters_lost ON state.dead_letters USING btree (project_id, lost_id) WHERE (lost_id IS NOT NULL);
CREATE INDEX dead_letters_of_call ON state.dead_letters USING btree (project_id, tool_call_id) WHERE (tool_call_id IS NOT NULL);
grant delete, insert, select, update on state.dead_letters to toolplane_engine;
grant select on state.dead_letters to toolplane_reader;

create table state.edges (
  project_id text collate "C" not null,
  edge_id text collate "C" not null,
  channel_id text collate "C" not null,
  primitive text not null,
  edge_phase text not null,
  source_agent_id text collate "C" not null,
  source_turn_id text collate "C",
  source_step_id text collate "C",
  target_agent_id text collate "C" not null,
  target_turn_id text collate "C",
  correlation_id text collate "C" not null,
  recursion_depth integer not null,
  trace_id text collate "C",
  parent_step_id text collate "C",
  metadata jsonb not null default '{}'::jsonb,
  created_at timestamp with time zone not null default now(),
  constraint edges_pkey PRIMARY KEY (project_id, edge_id),
  constraint edges_of_correlation UNIQUE NULLS NOT DISTINCT (project_id, correlation_id, primitive, edge_phase, target_turn_id),
  constraint edges_edge_phase_check CHECK ((edge_phase = ANY (ARRAY['request'::text, 'response'::text]))),
  constraint edges_primitive_check CHECK ((primitive = ANY (ARRAY['enqueue'::text, 'join'::text]))),
  constraint edges_recursion_depth_check CHECK ((recursion_depth >= 0))
);
grant delete, insert, select, update on state.edges to toolplane_engine;
grant select on state.edges to toolplane_reader;

create view state.execution_edges (
  project_id text collate "C",
  edge_id text collate "C",
  channel_id text collate "C",
  primitive text,
  edge_phase text,
  source_agent_id text collate "C",
  source_turn_id text collate "C",
  source_step_id text collate "C",
  target_agent_id text collate "C",
  target_turn_id text collate "C",
  correlation_id text collate "C",
  recursion_depth integer,
  trace_id text collate "C",
  parent_step_id text collate "C",
  metadata jsonb,
  created_at timestamp with time zone
);
grant select on state.execution_edges to toolplane_engine;
grant select on state.execution_edges to toolplane_reader;

create table state.gates (
  project_id text collate "C" not null,
  gate text collate "C" not null,
  full_at timestamp with time zone,
  granted integer not null default 0,
  last_lane text collate "C" not null default ''::text,
  last_gate text collate "C" not null default ''::text,
  window_at timestamp with time zone,
  successes integer not null default 0,
  failures integer not null default 0,
  opened_at timestamp with time zone,
  open_until timestamp with time zone,
  trial text collate "C",
  constraint gates_pkey PRIMARY KEY (project_id, gate),
  constraint gates_project_id_fkey FOREIGN KEY (project_id) REFERENCES resource.projects(project_id) ON DELETE CASCADE
) with (fillfactor=70);
grant delete, insert, select, update on state.gates to toolplane_engine;
grant select on state.gates to toolplane_reader;

create table state.heads (
  project_id text collate "C" not null,
  agent_id text collate "C" not null,
  status text not null default 'idle'::text,
  active_agent_turn_id text collate "C",
  active_channel_id text collate "C",
  turn_epoch bigint not null default 0,
  active_recursion_depth integer not null default 0,
  parent_step_id text collate "C",
  trace_id text collate "C",
  profile_box_id text collate "C",
  context_box_id text collate "C",
  output_box_id text collate "C",
  expecting_correlation_id text collate "C",
  waiting_tool_count integer not null default 0,
  resume_deadline timestamp with time zone,
  chain_seq integer not null default 0,
  chain_hash text collate "C",
  updated_at timestamp with time zone not null default now(),
  last_output_box_id text collate "C",
  constraint heads_pkey PRIMARY KEY (project_id, agent_id),
  constraint heads_status_check CHECK ((status = ANY (ARRAY['idle'::text, 'dispatched'::text, 'running'::text, 'suspended'::text])))
) with (fillfactor=50);
grant delete, insert, select, update on state.heads to toolplane_engine;
grant select on state.heads to toolplane_reader;

create table state.identity_edges (
  project_id text collate "C" not null,
  edge_id text collate "C" not null,
  channel_id text collate "C" not null,
  action text not null,
  source_agent_id text collate "C",
  target_agent_id text collate "C" not null,
  trace_id text collate "C",
  parent_step_id text collate "C",
  metadata jsonb not null default '{}'::jsonb,
  created_at timestamp with time zone not null default now(),
  constraint identity_edges_pkey PRIMARY KEY (project_id, edge_id)
);
grant delete, insert, select, update on state.identity_edges to toolplane_engine;
grant select on state.identity_edges to toolplane_reader;

create table state.inbox (
  project_id text collate "C" not null,
  inbox_id text collate "C" not null,
  agent_id text collate "C" not null,
  channel_id text collate "C" not null,
  message_type text not null,
  correlation_id text collate "C" not null,
  agent_turn_id text collate "C" not null,
  turn_epoch bigint not null,
  context_headers text not null,
  payload text not null,
  status text not null default 'pending'::text,
  retry_count integer not null default 0,
  next_retry_at timestamp with time zone not null default now(),
  defer_reason text,
  last_error text,
  processed_at timestamp with time zone,
  archived_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  claim_id text collate "C",
  claim_expires_at timestamp with time zone,
  worker text,
  rings integer not null default 0,
  ring_at timestamp with time zone not null default (now() + '00:00:05'::interval),
  constraint inbox_pkey PRIMARY KEY (project_id, inbox_id),
  constraint inbox_message_type_check CHECK ((message_type = ANY (ARRAY['turn'::text, 'ui_action'::text, 'tool_result'::text, 'timeout'::text, 'stop'::text, 'continuation'::text]))),
  constraint inbox_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'pending'::text, 'processing'::text, 'deferred'::text, 'consumed'::text, 'error'::text, 'skipped'::text])))
);
CREATE INDEX inbox_claims ON state.inbox USING btree (claim_expires_at) WHERE (status = 'processing'::text);
CREATE INDEX inbox_live ON state.inbox USING btree (project_id, agent_id, next_retry_at) WHERE ((archived_at IS NULL) AND (status <> 'queued'::text));
CREATE UNIQUE INDEX inbox_once ON state.inbox USING btree (agent_turn_id, project_id, agent_id, correlation_id, (
CASE message_type
    WHEN 'timeout'::text THEN 'tool_result'::text
    ELSE message_type
END));
CREATE INDEX inbox_queued ON state.inbox USING btree (project_id, agent_id, created_at, inbox_id) WHERE (status = 'queued'::text);
CREATE INDEX inbox_ring ON state.inbox USING btree (ring_at) WHERE (status = ANY (ARRAY['pending'::text, 'deferred'::text]));
grant delete, insert, select, update on state.inbox to toolplane_engine;
grant select on state.inbox to toolplane_reader;

create table state.lingering_runs (
  project_id text collate "C" not null,
  tool_call_id text collate "C" not null,
  gate text collate "C" not null,
  lease_id text collate "C",
  holder text,
  ended_as text not null,
  started_at timestamp with time zone,
  run_deadline timestamp with time zone,
  held_until timestamp with time zone not null,
  constraint lingering_runs_pkey PRIMARY KEY (project_id, tool_call_id),
  constraint lingering_runs_project_id_fkey FOREIGN KEY (project_id) REFERENCES resource.projects(project_id) ON DELETE CASCADE
);
CREATE INDEX lingering_runs_of_gate ON state.lingering_runs USING btree (project_id, gate, held_until);
grant delete, insert, select, update on state.lingering_runs to toolplane_engine;
grant select on state.lingering_runs to toolplane_reader;

create table state.live_calls (
  project_id text collate "C" not null,
  tool_call_id text collate "C" not null,
  status text not null,
  agent_id text collate "C" not null,
  agent_turn_id text collate "C" not null,
  turn_epoch bigint not null,
  step_id text collate "C" not null,
  headless boolean not null,
  channel_id text collate "C" not null,
  provider_call_id text,
  tool_name text collate "C" not null,
  tool_version integer not null,
  definition_hash text collate "C" not null,
  subject text collate "C" not null,
  target text collate "C" not null,
  actor_id text collate "C" not null,
  after_execution text not null,
  call_card_id text collate "C" not null,
  call_card_hash text collate "C" not null,
  headers text not null,
  lineage text not null,
  recursion_depth integer not null,
  trace_id text collate "C" not null,
  retry_safe boolean not null,
  plain boolean not null,
  timeout_seconds double precision not null,
  queue_timeout_seconds double precision not null,
  idempotency_key text collate "C",
  arguments_hash text collate "C" not null,
  retry_of text collate "C",
  chain_hash text collate "C",
  session text collate "C",
  created_at timestamp with time zone not null default now(),
  available_at timestamp with time zone not null default now(),
  queue_deadline timestamp with time zone not null,
  due_at timestamp with time zone not null,
  attempts integer not null default 0,
  publishes integer not null default 0,
  lease_id text collate "C",
  lease_holder text collate "C",
  lease_expires_at timestamp with time zone,
  run_deadline timestamp with time zone,
  started_at timestamp with time zone,
  standing_card_id text collate "C",
  approval_hash text collate "C",
  pin text collate "C",
  gate text collate "C",
  lane text collate "C" not null default ''::text,
  constraint live_calls_pkey PRIMARY KEY (project_id, tool_call_id),
  constraint live_calls_after_execution_check CHECK ((after_execution = ANY (ARRAY['suspend'::text, 'terminate'::text]))),
  constraint live_calls_recursion_depth_check CHECK ((recursion_depth >= 0)),
  constraint live_calls_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'awaiting_approval'::text])))
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=5000);
CREATE INDEX live_calls_claimable ON state.live_calls USING btree (project_id, target, lane, available_at, tool_call_id) WHERE ((status = 'queued'::text) AND (session IS NULL) AND (pin IS NULL) AND (gate IS NULL));
CREATE INDEX live_calls_due ON state.live_calls USING btree (due_at);
CREATE INDEX live_calls_gate_running ON state.live_calls USING btree (project_id, gate) WHERE ((status = 'running'::text) AND (gate IS NOT NULL));
CREATE INDEX live_calls_gated ON state.live_calls USING btree (project_id, target, gate, lane, available_at, tool_call_id) WHERE ((status = 'queued'::text) AND (gate IS NOT NULL));
CREATE INDEX live_calls_held ON state.live_calls USING btree (project_id, target) WHERE (plain AND (gate IS NOT NULL) AND (status = 'queued'::text));
CREATE INDEX live_calls_of_session ON state.live_calls USING btree (project_id, target, session, available_at, tool_call_id) WHERE ((status = 'queued'::text) AND (session IS NOT NULL));
CREATE INDEX live_calls_of_turn ON state.live_calls USING btree (project_id, agent_turn_id) WHERE (NOT headless);
CREATE INDEX live_calls_pinned ON state.live_calls USING btree (project_id, target, pin, available_at, tool_call_id) WHERE ((status = 'queued'::text) AND (session IS NULL) AND (pin IS NOT NULL) AND (gate IS NULL));
CREATE UNIQUE INDEX live_calls_session_running ON state.live_calls USING btree (project_id, session) WHERE ((status = 'running'::text) AND (session IS NOT NULL));
CREATE INDEX live_calls_waiting ON state.live_calls USING btree (project_id, tool_call_id) WHERE (status = 'awaiting_approval'::text);
grant delete, insert, select, update on state.live_calls to toolplane_engine;
grant select on state.live_calls to toolplane_reader;

create table state.past_calls (
  project_id text collate "C" not null,
  tool_call_id text collate "C" not null,
  status text not null,
  agent_id text collate "C" not null,
  agent_turn_id text collate "C" not null,
  turn_epoch bigint not null,
  step_id text collate "C" not null,
  headless boolean not null,
  channel_id text collate "C" not null,
  provider_call_id text,
  tool_name text collate "C" not null,
  tool_version integer not null,
  definition_hash text collate "C" not null,
  subject text collate "C" not null,
  target text collate "C" not null,
  actor_id text collate "C" not null,
  after_execution text not null,
  call_card_id text collate "C" not null,
  call_card_hash text collate "C" not null,
  headers text not null,
  lineage text not null,
  recursion_depth integer not null,
  trace_id text collate "C" not null,
  retry_safe boolean not null,
  plain boolean not null,
  timeout_seconds double precision not null,
  queue_timeout_seconds double precision not null,
  idempotency_key text collate "C",
  arguments_hash text collate "C" not null,
  retry_of text collate "C",
  chain_hash text collate "C",
  created_at timestamp with time zone not null,
  available_at timestamp with time zone not null,
  queue_deadline timestamp with time zone not null,
  attempts integer not null,
  publishes integer not null,
  lease_id text collate "C",
  lease_holder text collate "C",
  lease_expires_at timestamp with time zone,
  run_deadline timestamp with time zone,
  started_at timestamp with time zone,
  result_card_id text collate "C",
  result_hash text collate "C",
  error_code text collate "C",
  settled_by text collate "C",
  settled_at timestamp with time zone not null,
  applied_at timestamp with time zone,
  result_chain_seq integer,
  session text collate "C",
  approval_hash text collate "C",
  result_chain_hash text collate "C",
  constraint past_calls_pkey PRIMARY KEY (project_id, tool_call_id),
  constraint past_calls_after_execution_check CHECK ((after_execution = ANY (ARRAY['suspend'::text, 'terminate'::text]))),
  constraint past_calls_recursion_depth_check CHECK ((recursion_depth >= 0)),
  constraint past_calls_status_check CHECK ((status = ANY (ARRAY['success'::text, 'failed'::text, 'canceled'::text, 'timeout'::text, 'partial'::text])))
);
CREATE INDEX past_calls_of_agent ON state.past_calls USING btree ((((project_id || ' '::text) || agent_id)), tool_call_id) WHERE (agent_id <> 'sys.api'::text);
CREATE INDEX past_calls_of_error ON state.past_calls USING btree ((((project_id || ' '::text) || error_code)), tool_call_id) WHERE (error_code IS NOT NULL);
CREATE INDEX past_calls_of_tool ON state.past_calls USING btree ((((project_id || ' '::text) || tool_name)), tool_call_id);
CREATE INDEX past_calls_of_trace ON state.past_calls USING btree ((((project_id || ' '::text) || trace_id)), tool_call_id) WHERE (headless AND ("left"(trace_id, 10) <> "left"(tool_call_id, 10)));
CREATE INDEX past_calls_of_turn ON state.past_calls USING btree (project_id, agent_turn_id) WHERE (NOT headless);
grant delete, insert, select, update on state.past_calls to toolplane_engine;
grant select on state.past_calls to toolplane_reader;

create table state.sessions (
  project_id text collate "C" not null,
  session text collate "C" not null,
  agent_id text collate "C" not null,
  target text collate "C" not null,
  state text not null,
  calls bigint not null default 1,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint sessions_pkey PRIMARY KEY (project_id, session)
);
CREATE INDEX sessions_idle ON state.sessions USING btree (project_id, updated_at);
grant delete, insert, select, update on state.sessions to toolplane_engine;
grant select on state.sessions to toolplane_reader;

create table state.steps (
  project_id text collate "C" not null,
  agent_id text collate "C" not null,
  step_id text collate "C" not null,
  agent_turn_id text collate "C" not null,
  channel_id text collate "C" not null,
  parent_step_id text collate "C",
  trace_id text collate "C",
  status text not null,
  tool_call_ids text[] not null default '{}'::text[],
  error text,
  metadata jsonb not null default '{}'::jsonb,
  started_at timestamp with time zone not null default now(),
  ended_at timestamp with time zone,
  request_hash text collate "C",
  outcome text,
  new_card_ids text[] not null default '{}'::text[],
  constraint steps_pkey PRIMARY KEY (project_id, agent_id, step_id)
) with (fillfactor=50);
CREATE INDEX steps_of_turn ON state.steps USING btree (agent_turn_id, project_id);
grant delete, insert, select, update on state.steps to toolplane_engine;
grant select on state.steps to toolplane_reader;

create table state.tombstones (
  project_id text collate "C" not null,
  agent_turn_id text collate "C" not null,
  chain_hash text collate "C",
  links integer not null,
  cards integer not null,
  ended_at timestamp with time zone not null,
  forgotten_at timestamp with time zone not null default now(),
  constraint tombstones_pkey PRIMARY KEY (project_id, agent_turn_id)
);
CREATE INDEX tombstones_age ON state.tombstones USING btree (forgotten_at);
grant delete, insert, select, update on state.tombstones to toolplane_engine;
grant select on state.tombstones to toolplane_reader;

create table state.turns (
  project_id text collate "C" not null,
  agent_turn_id text collate "C" not null,
  agent_id text collate "C" not null,
  kind text not null,
  status text not null,
  correlation_id text collate "C" not null,
  request_hash text collate "C" not null,
  source_agent_id text collate "C" not null,
  channel_id text collate "C" not null,
  recursion_depth integer not null,
  trace_id text collate "C" not null,
  traceparent text collate "C" not null,
  tracestate text collate "C",
  parent_agent_id text collate "C",
  parent_agent_turn_id text collate "C",
  parent_step_id text collate "C",
  profile_box_id text collate "C" not null,
  context_box_id text collate "C" not null,
  output_box_id text collate "C" not null,
  context_owned boolean not null,
  output_owned boolean not null,
  display_name text,
  payload text not null,
  runtime_config text not null,
  metadata text not null,
  step_count integer not null default 0,
  turn_epoch bigint not null default 0,
  deliverable_card_id text collate "C",
  error text,
  error_code text collate "C",
  end_claim_id text collate "C",
  chain_seq integer,
  chain_hash text collate "C",
  created_at timestamp with time zone not null default now(),
  dispatched_at timestamp with time zone,
  ended_at timestamp with time zone,
  parent_traceparent text collate "C",
  alias_id text collate "C",
  chain_version smallint not null default 1,
  task_hash text collate "C",
  context_cards integer not null default 0,
  context_hash text collate "C",
  constraint turns_pkey PRIMARY KEY (project_id, agent_turn_id),
  constraint turns_check CHECK (((ended_at IS NULL) = (status = ANY (ARRAY['queued'::text, 'active'::text])))),
  constraint turns_kind_check CHECK ((kind = ANY (ARRAY['turn'::text, 'ui_action'::text]))),
  constraint turns_recursion_depth_check CHECK ((recursion_depth >= 0)),
  constraint turns_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'active'::text, 'success'::text, 'failed'::text, 'canceled'::text, 'timeout'::text, 'partial'::text])))
) with (fillfactor=50);
CREATE UNIQUE INDEX turns_alias ON state.turns USING btree (alias_id, (((((project_id || ' '::text) || source_agent_id) || ' '::text) || agent_id))) WHERE (alias_id IS NOT NULL);
CREATE UNIQUE INDEX turns_correlation ON state.turns USING btree (correlation_id, (((((project_id || ' '::text) || source_agent_id) || ' '::text) || agent_id)));
CREATE INDEX turns_delegated ON state.turns USING btree (((project_id || ''::text))) WHERE ((ended_at IS NULL) AND (parent_agent_turn_id IS NOT NULL));
CREATE INDEX turns_of_agent ON state.turns USING btree (agent_id, project_id, agent_turn_id);
CREATE INDEX turns_of_context ON state.turns USING btree (context_box_id);
CREATE INDEX turns_of_error ON state.turns USING btree ((((project_id || ' '::text) || error_code)), agent_turn_id) WHERE (error_code IS NOT NULL);
CREATE INDEX turns_of_output ON state.turns USING btree (output_box_id);
CREATE INDEX turns_of_parent ON state.turns USING btree (parent_agent_turn_id, project_id, agent_turn_id) WHERE (parent_agent_turn_id IS NOT NULL);
CREATE INDEX turns_of_trace ON state.turns USING btree ((((project_id || ' '::text) || trace_id)), agent_turn_id);
CREATE INDEX turns_open ON state.turns USING btree (project_id, agent_turn_id) WHERE (ended_at IS NULL);
CREATE UNIQUE INDEX turns_output ON state.turns USING btree (output_box_id, project_id) WHERE (ended_at IS NULL);
CREATE INDEX turns_sharing_output ON state.turns USING btree (output_box_id, project_id, agent_turn_id) WHERE (NOT output_owned);
grant delete, insert, select, update on state.turns to toolplane_engine;
grant select on state.turns to toolplane_reader;

create table state.webhook_deliveries (
  project_id text collate "C" not null,
  delivery_id text collate "C" not null,
  seq bigint not null generated always as identity,
  webhook_id text collate "C" not null,
  order_key text collate "C" not null,
  event text not null,
  body text not null,
  status text not null default 'pending'::text,
  attempts integer not null default 0,
  available_at timestamp with time zone not null default now(),
  lease_id text collate "C",
  last_status integer,
  last_error text,
  created_at timestamp with time zone not null default now(),
  ended_at timestamp with time zone,
  receiver text collate "C" not null default ''::text,
  constraint webhook_deliveries_pkey PRIMARY KEY (project_id, delivery_id),
  constraint webhook_deliveries_project_id_webhook_id_fkey FOREIGN KEY (project_id, webhook_id) REFERENCES resource.webhooks(project_id, webhook_id) ON DELETE CASCADE,
  constraint webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'dead'::text])))
);
CREATE INDEX webhook_deliveries_due ON state.webhook_deliveries USING btree (available_at, seq) WHERE (status = 'pending'::text);
CREATE INDEX webhook_deliveries_ended ON state.webhook_deliveries USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX webhook_deliveries_lines ON state.webhook_deliveries USING btree (project_id, receiver, available_at, seq) WHERE (status = 'pending'::text);
CREATE INDEX webhook_deliveries_of_webhook ON state.webhook_deliveries USING btree (project_id, webhook_id, delivery_id);
CREATE INDEX webhook_deliveries_order ON state.webhook_deliveries USING btree (project_id, webhook_id, order_key, seq) WHERE (status = 'pending'::text);
grant delete, insert, select, update on state.webhook_deliveries to toolplane_engine;
grant select on state.webhook_deliveries to toolplane_reader;

create table state.webhook_readers (
  project_id text collate "C" not null,
  "position" text not null,
  read_at timestamp with time zone not null default now(),
  constraint webhook_readers_pkey PRIMARY KEY (project_id),
  constraint webhook_readers_project_id_fkey FOREIGN KEY (project_id) REFERENCES resource.projects(project_id) ON DELETE CASCADE
);
grant delete, insert, select, update on state.webhook_readers to toolplane_engine;
grant select on state.webhook_readers to toolplane_reader;
