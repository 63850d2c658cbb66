// What tests do to the tables of turns: heads, inboxes, turns and agents, past the engine.

export const MEDDLE_TURNS = {
  addAgent: `
with box as (insert into cards.boxes (project_id, box_id)
  values ($1, 'profile-box') on conflict do nothing)
  insert into resource.agents (project_id, agent_id, worker_target, profile_box_id)
  values ($1, $2, $3, 'profile-box')`,
  addBareAgent: "insert into resource.agents (project_id, agent_id, worker_target) values ($1, 'bare', $2)",
  addInboxRow: `
insert into state.inbox (project_id, inbox_id, agent_id, channel_id, message_type, correlation_id,
  agent_turn_id, turn_epoch, context_headers, payload)
  values ($1, $2, $3, 'public', $4, $2, $5, $6, $7, $8)`,
  ageDispatchedTurns: "update state.turns set dispatched_at = now() - interval '1 day' where dispatched_at is not null",
  ageEndedTurn: "update state.turns set ended_at = now() - interval '2 days' where agent_turn_id = $1",
  ageEndedTurns: `
update state.turns set ended_at = now() - interval '2 days', agent_turn_id = agent_turn_id
  where ended_at is not null`,
  ageHeads: "update state.heads set updated_at = now() - interval '1 minute'",
  ageRings: `
update state.inbox set rings = 2, ring_at = now() - interval '23 hours 50 minutes'
  where status = 'pending'`,
  ageTurns: "update state.turns set dispatched_at = now() - interval '10 years'",
  appendToBox: `
with box as (update cards.boxes set length = length + 1 where project_id = $1 and box_id = $2 returning length)
insert into cards.box_cards (project_id, box_id, position, card_id) select $1, $2, length - 1, $3 from box`,
  breakFirstResult: `
update state.inbox set context_headers = 'broken'
  where inbox_id = (select min(inbox_id)
  from state.inbox
  where message_type = 'tool_result')`,
  breakLastResult: `
update state.inbox set payload = '{"turn_epoch":7}'
  where inbox_id = (select max(inbox_id)
  from state.inbox
  where message_type = 'tool_result')`,
  breakPayloadOfB: "update state.inbox set payload = 'no json' where agent_id = 'b'",
  deferResults: "update state.inbox set status = 'deferred', ring_at = now() where message_type = 'tool_result'",
  dropAgents: "delete from resource.agents",
  emptyHeadersOfA: "update state.inbox set context_headers = '{}' where agent_id = 'a'",
  emptyHeadersOfTurn: "update state.inbox set context_headers = '{}' where agent_turn_id = $1",
  forgeResult: `
insert into state.inbox (project_id, inbox_id, agent_id, channel_id, message_type, correlation_id,
  agent_turn_id, turn_epoch, context_headers, payload)
  select project_id, 'inbox_forged', agent_id, channel_id, 'tool_result', 'no_such_call', agent_turn_id, turn_epoch, context_headers, payload
  from state.inbox
  where message_type = 'tool_result'`,
  forgeStop: `
insert into state.inbox (project_id, inbox_id, agent_id, channel_id, message_type, correlation_id,
  agent_turn_id, turn_epoch, context_headers, payload)
  select project_id, 'inbox_odd', agent_id, channel_id, 'stop', 'odd', agent_turn_id, turn_epoch, context_headers, '{}' from state.inbox`,
  holdStuckRow: `
update state.inbox set status = 'processing', claim_id = 'foreign', claim_expires_at = now() + interval '1 hour'
  where inbox_id = 'stuck'`,
  idleHeads: "update state.heads set status = 'idle', active_agent_turn_id = null",
  lapseAllClaims: "update state.inbox set claim_expires_at = now()",
  lapseClaims: "update state.inbox set claim_expires_at = now() - interval '1 second' where status = 'processing'",
  lapseSomeClaims: `
update state.inbox set claim_expires_at = now() - interval '1 second'
  where status = 'processing' and random() < 0.5`,
  leaveBellsUnheard:
    "update state.inbox set ring_at = now() - interval '1 second' where status in ('pending', 'deferred')",
  loseHeads: "delete from state.heads",
  loseResults: "delete from state.inbox where message_type = 'tool_result'",
  moveAgents: "update resource.agents set worker_target = 'pool_b'",
  offerResultsAgain: "update state.inbox set status = 'pending', archived_at = null where message_type = 'tool_result'",
  offerResultsOfFirstEpoch: `
update state.inbox set status = 'pending', archived_at = null, turn_epoch = 1
  where message_type = 'tool_result'`,
  putAgentToSleep: "update resource.agents set status = 'inactive' where agent_id = 'sleeper'",
  retryNow: "update state.inbox set next_retry_at = now() where status = 'deferred'",
  ringOften: "update state.inbox set rings = 9, ring_at = now() - interval '1 second'",
  runHeads: "update state.heads set status = 'running'",
  setHeads: "update state.heads set status = $1",
  setPayloadOfTurn: "update state.inbox set payload = $2 where agent_turn_id = $1",
  shortenPayloadOfTurn: `update state.inbox set payload = '{"profile_box_id":"p"}' where agent_turn_id = $1`,
  suspendHeads: "update state.heads set status = 'suspended'",
  /** The time of a suspended turn is over. $1 turn. */
  lapseResume:
    "update state.heads set resume_deadline = now() - interval '1 second', updated_at = now() - interval '1 hour' where active_agent_turn_id = $1 and resume_deadline is not null returning 1",
} as const;
