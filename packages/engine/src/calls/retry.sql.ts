// A failed attempt goes back to the queue: its lease ends, the call waits as a row. The condition decides: it is under this lease and has
// attempts left. With an external bus its command is published again when its time has come.

import { type GivenOf, given, inputOf } from "../sql/columns.sql.ts";
import type { Statement } from "../sql/database.ts";
import { TELL_RETRIED } from "./ended-leases.sql.ts";
import { isHeld, offeredAt, RECHECK_PAUSED, SEND_OFFERED } from "./offer.sql.ts";

const text = () => given<string>("text");
const seconds = () => given<number>("double precision");

const RETRY_COLUMNS = {
  projectId: text(),
  toolCallId: text(),
  leaseId: text(),
  code: text(),
  maxAttempts: given<number>("integer"),
  backoffSeconds: seconds(),
  maxBackoffSeconds: seconds(),
  retryAfterSeconds: seconds(),
  /** The command, when a bus beside the database carries it. */
  commandPayload: given<string | null>("text"),
} as const;

export type RetryRow = GivenOf<typeof RETRY_COLUMNS>;
const retries = inputOf(RETRY_COLUMNS);

export interface RetriedRow {
  readonly ord: number;
  readonly available_at: Date;
  readonly gated: boolean;
}

/** RP3. `e.attempts` is how often the call was started, so the first pause is `backoff_seconds`. */
const PAUSE = `make_interval(secs => greatest(e.retry_after_seconds,
  least(e.max_backoff_seconds, e.backoff_seconds * power(2, least(e.attempts - 1, 60)))))`;

/**
 * What was retried; the rest settles. During its pause a call stands in the lane of those for later; then the sweep puts it into the lane of its
 * agent, as calls for later. $next: seconds until an unleased command is published again, null on the postgres bus.
 */
export const RETRY: Statement = {
  name: "calls.retry",
  text: `
with ended as materialized (
  select i.ord, i.code, i.backoff_seconds, i.max_backoff_seconds, i.retry_after_seconds, i.command_payload, c.*
    from ${retries.from}
   cross join lateral (
     select * from state.live_calls q
      where q.project_id = i.project_id and q.tool_call_id = i.tool_call_id and q.status = 'running' and q.lease_id = i.lease_id
        and q.attempts < i.max_attempts and q.standing_card_id is null
        for update) c
),
kept as (
  insert into state.call_leases (project_id, tool_call_id, lease_id, attempt, holder, started_at, ended, error_code)
  select project_id, tool_call_id, lease_id, attempts, lease_holder, started_at, 'failed', code from ended
  on conflict do nothing
),
told as (${TELL_RETRIED}
),
offered as (
  update state.live_calls c
     set status = 'queued', lease_id = null, lease_holder = null, lease_expires_at = null, run_deadline = null, started_at = null,
         lane = case when ${PAUSE} > interval '0' then '' else c.agent_id end, available_at = ${offeredAt(`now() + ${PAUSE}`)},
         queue_deadline = now() + ${PAUSE} + make_interval(secs => c.queue_timeout_seconds),
         publishes = c.publishes + case when e.command_payload is null or ${isHeld("c")} or ${offeredAt("now()")} = 'infinity' then 0 else 1 end,
         due_at = least(now() + ${PAUSE} + make_interval(secs => c.queue_timeout_seconds),
                        now() + ${PAUSE} + make_interval(secs => coalesce($${retries.next}::double precision, case when ${PAUSE} > interval '0' then 0 end)),
                        ${RECHECK_PAUSED})
    from ended e
   where c.project_id = any (array[e.project_id]) and c.tool_call_id = e.tool_call_id
  returning e.ord, e.command_payload, c.project_id, c.subject, c.target, c.headers, c.available_at, c.gate, c.plain
),
sent as (${SEND_OFFERED}
)
select ord::int as ord, available_at, gate is not null as gated from offered`,
};

export const bindRetries = (rows: readonly RetryRow[], republishSeconds: number | null): unknown[] => [
  ...retries.bind(rows),
  republishSeconds,
];
