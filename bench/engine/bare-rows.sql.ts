// The floor: the same rows as the engine's, written by plain set-based statements into tables with a primary key and
// nothing else. No schema check, version, key, lease, deadline or fence; the last settlement wins.

export const MAKE_TABLES = `
create schema if not exists bare;
create table bare.calls with (fillfactor = 80) as select * from state.calls with no data;
alter table bare.calls alter created_at set default now(), alter available_at set default now(),
  alter attempts set default 0, alter publishes set default 0;
alter table bare.calls add primary key (project_id, tool_call_id);
create index bare_claimable on bare.calls (project_id, target, available_at, tool_call_id) where status = 'queued' and lease_holder is null;
create table bare.cards (like cards.cards including defaults including storage);
alter table bare.cards add primary key (project_id, card_id);
grant usage on schema bare to public;
grant select, insert, update on bare.calls, bare.cards to public`;

export const FIND_TABLES = "select 1 from pg_namespace where nspname = 'bare'";

/** A call the engine wrote, with both its cards: what bare rows are copied from. */
export const READ_SAMPLE = `
select to_jsonb(c) as call, k.body as call_body, r.body as result_body
  from state.calls c
  join cards.cards k on k.project_id = c.project_id and k.card_id = c.call_card_id
  join cards.cards r on r.project_id = c.project_id and r.card_id = c.result_card_id
 where c.project_id = $1 and c.settled_at is not null
 limit 1`;

/** What dispatch sends, in the order of the columns. */
export const CALL_COLUMNS = [
  ["project_id", "text"],
  ["tool_call_id", "text"],
  ["status", "text"],
  ["agent_id", "text"],
  ["agent_turn_id", "text"],
  ["turn_epoch", "bigint"],
  ["step_id", "text"],
  ["headless", "boolean"],
  ["channel_id", "text"],
  ["provider_call_id", "text"],
  ["tool_name", "text"],
  ["tool_version", "integer"],
  ["definition_hash", "text"],
  ["subject", "text"],
  ["target", "text"],
  ["actor_id", "text"],
  ["after_execution", "text"],
  ["call_card_id", "text"],
  ["call_card_hash", "text"],
  ["headers", "text"],
  ["lineage", "text"],
  ["recursion_depth", "integer"],
  ["trace_id", "text"],
  ["retry_safe", "boolean"],
  ["plain", "boolean"],
  ["timeout_seconds", "double precision"],
  ["queue_timeout_seconds", "double precision"],
  ["arguments_hash", "text"],
] as const;

const names = CALL_COLUMNS.map(([name]) => name).join(", ");
const arrays = CALL_COLUMNS.map(([, type], index) => `$${index + 1}::${type}[]`).join(", ");
const BODY = `$${CALL_COLUMNS.length + 1}`;

export const BARE_DISPATCH = {
  name: "bare.dispatch",
  text: `
with input as materialized (select * from unnest(${arrays}, ${BODY}::text[]) as i (${names}, body)),
called as (insert into bare.calls (${names}, queue_deadline) select ${names}, now() + interval '1 day' from input)
insert into bare.cards (project_id, card_id, type, author_id, tool_call_id, agent_turn_id, step_id, hash, body)
select project_id, call_card_id, 'tool.call', agent_id, tool_call_id, agent_turn_id, step_id, call_card_hash, body from input`,
};

/** $1 project, $2 target, $3 max. A queue that several processes can take from; the taking is not synced. */
export const BARE_CLAIM = {
  name: "bare.claim",
  text: `
with picked as materialized (
  select project_id, tool_call_id from bare.calls
   where project_id = $1 and target = $2 and status = 'queued' and lease_holder is null and available_at <= now()
   order by available_at, tool_call_id limit $3 for update skip locked),
durability as materialized (select set_config('synchronous_commit', 'off', true)),
taken as (
  update bare.calls c set lease_holder = 'bench', started_at = now() from picked p, durability
   where c.project_id = p.project_id and c.tool_call_id = p.tool_call_id
  returning c.*)
select t.*, k.body from taken t join bare.cards k on k.project_id = t.project_id and k.card_id = t.call_card_id`,
};

/** $1 projects, $2 calls, $3 turns, $4 steps, $5 result cards, $6 hashes, $7 bodies. */
export const BARE_SETTLE = {
  name: "bare.settle",
  text: `
with input as materialized (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
    as i (project_id, tool_call_id, agent_turn_id, step_id, card_id, hash, body)),
done as (
  update bare.calls c set status = 'success', settled_at = now(), settled_by = 'tool.text', result_card_id = i.card_id, result_hash = i.hash
    from input i where c.project_id = i.project_id and c.tool_call_id = i.tool_call_id)
insert into bare.cards (project_id, card_id, type, author_id, tool_call_id, agent_turn_id, step_id, hash, body)
select project_id, card_id, 'tool.result', 'tool.text', tool_call_id, agent_turn_id, step_id, hash, body from input`,
};
