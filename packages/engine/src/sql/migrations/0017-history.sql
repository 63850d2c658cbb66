-- What the history of a turn covers: the task, the context, decisions and the result of a direct call, beside the cards.

-- The version of a turn's chain: 1 for turns of earlier versions, which begin with their first card; 2 for turns whose chain
-- begins with the task. task_hash: the first link, made of what the row says the turn was asked. context_cards and context_hash:
-- the cards that the turn was given and did not write itself, as the first link has them.
alter table state.turns
  add column chain_version smallint not null default 1,
  add column task_hash     text collate "C",
  add column context_cards integer not null default 0,
  add column context_hash  text collate "C";

-- approval_hash: the card of the decision that is linked before the result. result_chain_hash: the link of the result; for a
-- direct call, which is a turn of its own, it is the end of the chain.
alter table state.live_calls add column approval_hash text collate "C";
alter table state.past_calls
  add column approval_hash     text collate "C",
  add column result_chain_hash text collate "C";

create or replace view state.calls as
  select project_id, tool_call_id, status, agent_id, agent_turn_id, turn_epoch, step_id, headless, channel_id,
         provider_call_id, tool_name, tool_version, definition_hash, subject, target, actor_id, after_execution, call_card_id,
         call_card_hash, headers, lineage, recursion_depth, trace_id, retry_safe, plain, timeout_seconds,
         queue_timeout_seconds, idempotency_key, arguments_hash, retry_of, chain_hash, session, created_at, available_at,
         queue_deadline, due_at, attempts, publishes, lease_id, lease_holder, lease_expires_at, run_deadline, started_at,
         null::text collate "C" as result_card_id, null::text collate "C" as result_hash, null::text collate "C" as error_code,
         null::text collate "C" as settled_by, null::timestamptz as settled_at, null::timestamptz as applied_at,
         null::integer as result_chain_seq, approval_hash, null::text collate "C" as result_chain_hash
    from state.live_calls
  union all
  select project_id, tool_call_id, status, agent_id, agent_turn_id, turn_epoch, step_id, headless, channel_id,
         provider_call_id, tool_name, tool_version, definition_hash, subject, target, actor_id, after_execution, call_card_id,
         call_card_hash, headers, lineage, recursion_depth, trace_id, retry_safe, plain, timeout_seconds,
         queue_timeout_seconds, idempotency_key, arguments_hash, retry_of, chain_hash, session, created_at, available_at,
         queue_deadline, null::timestamptz, attempts, publishes, lease_id, lease_holder, lease_expires_at, run_deadline,
         started_at, result_card_id, result_hash, error_code, settled_by, settled_at, applied_at, result_chain_seq,
         approval_hash, result_chain_hash
    from state.past_calls;

-- What retention leaves of a turn: where its chain ended. A direct call is the turn `turn_<call>`.
create table state.tombstones (
  project_id    text collate "C" not null,
  agent_turn_id text collate "C" not null,
  chain_hash    text collate "C",
  links         integer not null,
  cards         integer not null,
  ended_at      timestamptz not null,
  forgotten_at  timestamptz not null default now(),
  primary key (project_id, agent_turn_id)
);
create index tombstones_age on state.tombstones (forgotten_at);

-- Decisions of calls that retention has forgotten without them.
delete from cards.cards k using resource.projects p
 where k.project_id = p.project_id and k.card_id >= 'approval_' and k.card_id < 'approval`' and k.type = 'call.approval'
   and not exists (select from state.calls c where c.project_id = k.project_id and c.tool_call_id = substr(k.card_id, 10));

do $$
begin
  if exists (select from pg_roles where rolname = 'toolplane_reader') then
    grant select on state.tombstones to toolplane_reader;
  end if;
  if exists (select from pg_roles where rolname = 'toolplane_engine') then
    grant select, insert, update, delete on state.tombstones to toolplane_engine;
  end if;
end $$;
