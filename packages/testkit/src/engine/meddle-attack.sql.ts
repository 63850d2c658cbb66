// Time that passes for one agent while others work. What is in somebody's hands is left alone: the test must not be what others wait
// for. $1 agent everywhere.

export const MEDDLE_ATTACK = {
  lapseClaimsOf: `
update state.inbox set claim_expires_at = now() - interval '1 second', ring_at = now() - interval '1 second'
 where ctid = any (array(select ctid from state.inbox where agent_id = $1 and archived_at is null for update skip locked))`,
  lapseLeasesOf: `
update state.live_calls set due_at = now() - interval '1 second', lease_expires_at = now() - interval '1 second'
 where ctid = any (array(select ctid from state.live_calls where agent_id = $1 and status = 'running' for update skip locked))`,
  ageHeadOf: "update state.heads set updated_at = now() - interval '1 minute' where agent_id = $1",
  retryRowsOf:
    "update state.inbox set next_retry_at = now() where agent_id = $1 and status = 'deferred' and archived_at is null",
  offerCallsOf: "update state.live_calls set available_at = now() where agent_id = $1 and status = 'queued'",
  /** $2 status. */
  setAgentStatus: "update resource.agents set status = $2 where agent_id = $1",
  /** $2 status, $3 epoch. */
  setHeadOf: "update state.heads set status = $2, turn_epoch = $3 where agent_id = $1",
} as const;
