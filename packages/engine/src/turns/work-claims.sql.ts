// Claims on work: extended, given back; and which agents have something to do.

import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";

export interface ClaimRow {
  readonly projectId: string;
  readonly inboxId: string;
  readonly claimId: string;
}

const claims = setInput<ClaimRow>([
  ["projectId", "text"],
  ["inboxId", "text"],
  ["claimId", "text"],
]);

// The lookups are subqueries of their own, so that they stay lookups: a plan made while nothing is claimed would read all claims
// later. A row that another transaction is writing is not waited for: it counts as alive until the next heartbeat. So a
// heartbeat never waits behind a commit, and the two never deadlock.
/** $next: seconds. Which of the claims are alive. */
export const EXTEND_CLAIMS: Statement = {
  name: "turns.extend-claims",
  text: `
with held as materialized (
  select r.project_id, r.inbox_id
    from ${claims.from}
   cross join lateral (
     select q.project_id, q.inbox_id, q.status, q.claim_id from state.inbox q
      where q.project_id = i.project_id and q.inbox_id = i.inbox_id
     offset 0 for update skip locked) r
   where r.status = 'processing' and r.claim_id = i.claim_id
),
extended as (
  update state.inbox r
     set claim_expires_at = now() + make_interval(secs => $${claims.next}::double precision)
    from held h
   where r.project_id = any (array[h.project_id]) and r.inbox_id = h.inbox_id
)
select i.ord::int as ord
  from ${claims.from}
 cross join lateral (
   select q.status, q.claim_id from state.inbox q where q.project_id = i.project_id and q.inbox_id = i.inbox_id offset 0) r
 where r.status = 'processing' and r.claim_id = i.claim_id`,
};

export const bindExtend = (rows: readonly ClaimRow[], seconds: number): unknown[] => [...claims.bind(rows), seconds];

const RELEASED = `
with released as (
  update state.inbox r
     set status = 'pending', claim_id = null, claim_expires_at = null, worker = null, processed_at = null,
         next_retry_at = now(), ring_at = now() + interval '5 seconds'
   where r.project_id = $1 and r.inbox_id = $2 and r.claim_id = $3
  returning r.project_id, r.agent_id, r.channel_id, r.inbox_id
),
called as (
  select r.*, a.worker_target
    from released r
    join resource.agents a on a.project_id = any (array[r.project_id]) and a.agent_id = r.agent_id
)`;

const ANSWER = `
select project_id as "projectId", agent_id as "agentId", worker_target as "workerTarget" from called`;

/** $1 project, $2 inbox row, $3 claim. The row waits for another worker; the answer says whom to ring. */
export const RELEASE_CLAIM: Statement = { name: "turns.release-claim", text: `${RELEASED}${ANSWER}` };

/** The same where wakeups are messages. $4 wakeup headers, $5 protocol version. */
export const RELEASE_AND_PUBLISH: Statement = {
  name: "turns.release-and-publish",
  text: `${RELEASED},
rung as (
  insert into bus.messages (category, project_id, subject, component, target, headers, payload)
  select 'cmd', project_id, 'cg.' || $5::text || '.' || project_id || '.' || channel_id || '.cmd.agent.' || worker_target || '.wakeup',
         'agent', worker_target, $4::text, '{"inbox_id":"' || inbox_id || '"}'
    from called
)${ANSWER}`,
};

/** $1 worker targets, $2 limit. Rows by the time at which a worker should look, and claims that have lapsed. */
export const READ_DUE_AGENTS: Statement = {
  name: "turns.read-due-agents",
  text: `
select d.project_id, d.agent_id
  from (
    (select r.project_id, r.agent_id, r.ring_at as since
       from state.inbox r
       join resource.agents a on a.project_id = any (array[r.project_id]) and a.agent_id = r.agent_id and a.worker_target = any ($1::text[])
      where r.status in ('pending', 'deferred') and r.ring_at <= 'infinity' and r.next_retry_at <= now()
      order by r.ring_at
      limit $2::int)
    union all
    (select r.project_id, r.agent_id, r.claim_expires_at
       from state.inbox r
       join resource.agents a on a.project_id = any (array[r.project_id]) and a.agent_id = r.agent_id and a.worker_target = any ($1::text[])
      where r.status = 'processing' and r.claim_expires_at <= now()
      order by r.claim_expires_at
      limit $2::int)) d
 group by d.project_id, d.agent_id
 order by min(d.since)
 limit $2::int`,
};
