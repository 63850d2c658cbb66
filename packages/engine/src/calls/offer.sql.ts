// Back to the queue. Whatever offers a call again (a release, a claim whose answer was lost, a watchdog) says when. Two things
// may delay it: the time its caller asked for, and a tool that was paused meanwhile. Expressions over a call `c`.

import { TOLD_SENT, tellOf } from "./call-events.sql.ts";

// A scalar subquery: an EXISTS may be planned as one scan of all tools.
const IS_PAUSED = `(select t.status = 'paused' from resource.tools t
  where t.project_id = c.project_id and t.tool_name = c.tool_name)`;

/** A call of a paused tool waits outside the queue, whatever put it there. */
export const offeredAt = (time: string): string => `case when ${IS_PAUSED} then 'infinity' else ${time} end`;

/** Null, or when to check whether the resume was missed: a resume that raced with the statement did not see the call. */
export const RECHECK_PAUSED = `case when ${IS_PAUSED} then now() + interval '5 seconds' end`;

/** The time for which the caller wanted the call. Its time in the queue counts from then. */
export const WANTED_AT = "c.queue_deadline - make_interval(secs => c.queue_timeout_seconds)";

// A scalar subquery with a limit, for the same reason. Looked for only where nothing else has refused.
const SESSION_IS_FREE = `(c.session is null or (select 1 from state.live_calls r
  where r.project_id = c.project_id and r.session = c.session and r.status = 'running' and r.session is not null limit 1) is null)`;

/** A limited call of a service that never leases: its command is sent where its gate lets it pass, and nowhere else. */
export const isHeld = (call: string): string => `(${call}.plain and ${call}.gate is not null)`;

/** The command of a call of a plain service was sent, and is not sent again: the service may have begun before the tool was paused. */
const PLAIN_WAS_SENT = "(c.plain and c.publishes > 0)";

/**
 * Whether a call gets a gate that is new. A command that was sent before cannot be held back, so its call takes a slot if it may be running.
 * Otherwise the call stays without a gate: its time has not come, its run has no deadline, or it has a session, of which only one call runs.
 */
export const COMES_TO_GATE = `(c.status <> 'queued' or not ${PLAIN_WAS_SENT}
  or (c.session is null and c.run_deadline is not null and ${WANTED_AT} <= now()))`;

/** What a call of a plain service becomes when it gets a gate: a sent one holds a slot, any other is held from now on. */
export const PASS_SENT = `status = case when c.status = 'queued' and ${PLAIN_WAS_SENT} then 'running' else c.status end,
       started_at = case when c.status = 'queued' and ${PLAIN_WAS_SENT} then now() else c.started_at end,
       run_deadline = case when c.plain and c.publishes = 0 and c.status = 'queued' then null else c.run_deadline end`;

/** The events of calls that `PASS_SENT` makes running. `found` holds them: columns of state.live_calls, and an `ord`. */
export const TELL_PASSED_SENT = tellOf(`found c where c.status = 'queued' and ${PLAIN_WAS_SENT}`, "c", [TOLD_SENT]);

/**
 * Whether a call without a live lease can have a result: it ran under a lease that lapsed, or it is allowed to run. It is
 * allowed when a person has approved it, its time has come, its tool is not paused and its session is free. The pause before
 * another attempt does not matter. A pinned call and a limited call run only under a lease: a lease is what checks the version and counts.
 */
const CAN_HAVE_RUN = `(c.status = 'running' or (c.status = 'queued' and ${WANTED_AT} <= now()
  and (c.available_at < 'infinity' or ${PLAIN_WAS_SENT}) and ((c.pin is null and c.gate is null) or ${PLAIN_WAS_SENT})
  and ${SESSION_IS_FREE}))`;

/**
 * Whether a service may report under this lease id. With an id, it must be the id on the row. Without one, no lease may be live and
 * the call must be one that can have run (I6).
 */
export const inHands = (leaseId: string): string => `c.status <> 'awaiting_approval' and (c.lease_id = ${leaseId}
  or (${leaseId} is null and (c.lease_id is null or c.lease_expires_at <= now()) and ${CAN_HAVE_RUN}))`;

/** The commands of the calls that an `offered as (...)` before it has put back into the queue. */
export const SEND_OFFERED = `
  insert into bus.messages (category, project_id, subject, component, target, headers, payload, available_at)
  select 'cmd', project_id, subject, split_part(subject, '.', 6), target, headers, command_payload, available_at
    from offered o
   where command_payload is not null and not ${isHeld("o")} and available_at < 'infinity'`;
