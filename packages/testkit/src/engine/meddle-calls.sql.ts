// What tests do to the tables of calls, their cards and their tools, past the engine.

const PAST = "now() - interval '1 second'";

export const MEDDLE_CALLS = {
  /** Deadlines of one call, as if the time had gone by. $1 call. */
  passLease: `update state.live_calls set lease_expires_at = ${PAST}, due_at = ${PAST} where tool_call_id = $1`,
  passRun: `update state.live_calls set run_deadline = ${PAST}, due_at = ${PAST} where tool_call_id = $1`,
  passQueue: `update state.live_calls set queue_deadline = ${PAST}, due_at = ${PAST} where tool_call_id = $1`,
  passDue: `update state.live_calls set due_at = ${PAST} where tool_call_id = $1`,
  /** A call that waits for its next attempt waits no longer. $1 call. */
  offerCall: "update state.live_calls set available_at = now() where tool_call_id = $1 and status = 'queued'",
  activateTools: "update resource.tools set status = 'active'",
  addCallsOfOldSchema: `
insert into state.calls (
  project_id, tool_call_id, status, agent_id, agent_turn_id, turn_epoch, step_id, headless, channel_id, tool_name,
  tool_version, definition_hash, subject, target, actor_id, after_execution, call_card_id, call_card_hash, headers,
  lineage, recursion_depth, trace_id, retry_safe, plain, timeout_seconds, queue_timeout_seconds, arguments_hash,
  idempotency_key, queue_deadline, due_at, lease_id, settled_at, settled_by, result_card_id)
select 'p', s.status, s.status, 'sys.api', 'turn_' || s.status, 1, 'step', true, 'public', 'safe', 1, 'hash',
  'cg.v1r4.p.public.cmd.tool.test.run', 'test', 'tool.test', 'suspend', 'card_' || s.status, 'hash', '{}', '{}', 0, 'trace', true,
  false, 30, 600, 'hash', 'key_' || s.status, now() + interval '1 hour',
  case when s.open then now() + interval '1 hour' end, case when s.status = 'running' then 'lease' end,
  case when not s.open then now() end, case when not s.open then 'tool.test' end, case when not s.open then 'result_card' end
  from (values ('queued', true), ('running', true), ('awaiting_approval', true), ('success', false), ('failed', false)) s (status, open)`,
  addOddResultCard: `
insert into cards.cards (project_id, card_id, type, author_id, tool_call_id, hash, body, candidate)
       values ($1, 'odd', 'tool.result', 'tool.test', $2, 'h', '{"card_id":"odd"}', true)`,
  addOldCard: `
insert into cards.cards (project_id, card_id, type, author_id, hash, body) values ('p', 'card_queued', 'tool.call', 'sys.api', 'hash', '{}')`,
  addOldProject: "insert into resource.projects (project_id, title, owner_id) values ('p', 'p', 'o')",
  requeueRunning: "update state.live_calls set status = 'queued' where status = 'running'",
  ageAllCalls: `
with open as (
  update state.live_calls set created_at = created_at - interval '40 days', tool_call_id = '000' || substr(tool_call_id, 4)
)
update state.past_calls set settled_at = settled_at - interval '40 days', created_at = created_at - interval '40 days',
                            tool_call_id = '000' || substr(tool_call_id, 4)`,
  ageSession: "update state.sessions set updated_at = now() - interval '2 days' where agent_id = 'sys.anna'",
  ageSettledCall: `
update state.past_calls set settled_at = now() - interval '40 days', tool_call_id = '000' || substr(tool_call_id, 4)
  where tool_call_id = $1`,
  ageSettledCalls: `
with aged as (update state.call_diagnostics set tool_call_id = '000' || substr(tool_call_id, 4))
update state.past_calls set settled_at = now() - interval '40 days', tool_call_id = '000' || substr(tool_call_id, 4)`,
  breakCall: "update state.live_calls set headers = 'no json' where tool_call_id = $1",
  copySettledCall: `
insert into state.past_calls select (jsonb_populate_record(c, jsonb_build_object('headless', false,
         'tool_call_id', '0001' || lpad(n::text, 6, '0'), 'settled_at', now() - interval '40 days'))).*
         from state.past_calls c, generate_series(1, 1200) n where tool_call_id = $1`,
  deleteUnsafeTool: "update resource.tools set status = 'deleted' where tool_name = 'unsafe'",
  dropLiveCalls: "delete from state.live_calls",
  endBackoff: "update state.live_calls set available_at = now() where available_at < 'infinity'",
  fillPastBeforeOpenCall: `
with open as (update state.live_calls set tool_call_id = '0002' || substr(tool_call_id, 5))
  insert into state.past_calls select (jsonb_populate_record(c, jsonb_build_object('headless', false, 'tool_call_id', '0001' || lpad(n::text, 6, '0'), 'settled_at', now() - interval '40 days'))).*
  from state.past_calls c, generate_series(1, 1200) n`,
  forgetLastMigrations: "delete from public.toolplane_migrations where number > 14",
  lapseLease: `
update state.live_calls set lease_expires_at = now() - interval '1 second', due_at = now() - interval '1 second'
 where tool_call_id = $1 and status = 'running'`,
  lapseLeases: "update state.live_calls set lease_expires_at = now() - interval '1 s', due_at = now() - interval '1 s'",
  /** So many seconds pass for running calls while nobody looks at them. $1 seconds. */
  passForRunning: `
update state.live_calls
   set lease_expires_at = lease_expires_at - make_interval(secs => $1::float8), run_deadline = run_deadline - make_interval(secs => $1::float8),
       due_at = due_at - make_interval(secs => $1::float8), started_at = started_at - make_interval(secs => $1::float8)
 where status = 'running'`,
  /** The open calls of a project were made so many seconds earlier. $1 project, $2 seconds. */
  ageLiveCalls:
    "update state.live_calls set created_at = created_at - make_interval(secs => $2::float8) where project_id = $1",
  loseResultCards: "delete from cards.cards where type = 'tool.result'",
  markSent: "update state.live_calls set publishes = 1 where tool_call_id = $1",
  putOffCalls: "update state.live_calls set available_at = 'infinity', due_at = now()",
  queueAgain:
    "update state.live_calls set status = 'queued', lease_id = null, lease_holder = null, lease_expires_at = null",
  recordMigration: "insert into public.toolplane_migrations (number, name, hash) values ($1, $2, $3)",
  reviveManyCalls: `
with moved as (
  select to_jsonb(p) || jsonb_build_object('status', 'queued', 'due_at', now(), 'lane', '') as call
    from state.past_calls p where project_id = $1 order by tool_call_id desc limit 2000
)
insert into state.live_calls select c.* from moved, jsonb_populate_record(null::state.live_calls, call) c`,
  /** Statements that wait for another transaction. */
  findWaiters: "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  /** As if a limit had been set without its open calls. $1 project. */
  loseGates: "update state.live_calls set gate = null where project_id = $1",
  /** $1 project, $2 tool, $3 key. */
  takeCallKey: `
insert into state.call_keys (project_id, agent_id, tool_name, idempotency_key, tool_call_id) values ($1, 'sys.anna', $2, $3, 'none')`,
  /** The time of runs that have ended is over. $1 gate. */
  endLingering:
    "update state.lingering_runs set run_deadline = now() - interval '2 minutes', held_until = now() - interval '2 minutes' where gate = $1",
  /** Their leases have lapsed long ago. $1 gate. */
  lapseLingering: "update state.lingering_runs set held_until = now() - interval '2 minutes' where gate = $1",
  readLingering: "select tool_call_id from state.lingering_runs where gate = $1",
  /** The deadline of its runs has passed. $1 tool. */
  passRunDeadlines: `
update state.live_calls set run_deadline = now() - interval '1 second', due_at = now() - interval '1 second'
 where tool_name = $1 and status = 'running'`,
  /** So many seconds pass for the queued calls of a tool. $1 tool, $2 seconds. */
  passForQueued: `
update state.live_calls
   set available_at = available_at - make_interval(secs => $2::float8), queue_deadline = queue_deadline - make_interval(secs => $2::float8),
       due_at = due_at - make_interval(secs => $2::float8)
 where tool_name = $1 and status = 'queued'`,
} as const;
