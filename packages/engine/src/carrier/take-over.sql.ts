// What carries messages, the database or a bus beside it, and the change from one to the other.

import type { Statement } from "../sql/database.ts";

/** Writes only when it changes something. $1 kind. */
export const SET_CARRIER: Statement = {
  name: "carrier.set",
  text: `
update bus.carrier
   set kind = $1,
       moving_before = case when $1 = 'external' then pg_snapshot_xmax(pg_current_snapshot()) end
 where one and kind <> $1`,
};

/**
 * Commands that no service takes without a bus. A wakeup is dropped: workers look for the work themselves. A call's command waits
 * a day for the bus to come back; meanwhile a service that leases claims the call. Any other command becomes a dead letter that can be replayed.
 * $1 an id of this moment.
 */
export const DROP_COMMANDS: Statement = {
  name: "carrier.drop-commands",
  text: `
with gone as (
  delete from bus.messages where category = 'cmd' and (component = 'agent' or headers::json ->> 'CG-Tool-Call-Id' is null)
  returning id, project_id, subject, component, headers, payload, deliveries)
insert into state.dead_letters (project_id, dead_letter_id, kind, subject, headers, payload, code, reason, attempts)
select project_id, 'dead_' || $1::text || '-' || id, 'message', subject, headers, payload, 'upstream_unavailable',
       'the plane was started without a bus beside its database, so no service takes commands there', deliveries
  from gone
 where component <> 'agent'`,
};

export interface MovedRow {
  /** Whether there may be more. */
  readonly more: boolean;
}

/**
 * Moves the next events from before the change; the change is over when none is left. Events that another process is moving are skipped. $1 how many.
 */
export const MOVE_OLD_EVENTS: Statement = {
  name: "carrier_move_old_events",
  text: `
with change as materialized (select moving_before from bus.carrier where one and kind = 'external' and moving_before is not null),
picked as materialized (
  select m.id from bus.messages m
   where m.category = 'evt' and m.xid < (select moving_before from change)
   order by m.xid, m.id limit $1 for update),
gone as (
  delete from bus.messages m where m.id = any(array(select p.id from picked p))
  returning m.xid, m.id, m.project_id, m.subject, m.headers, m.payload, m.events, m.created_at),
kept as (
  insert into bus.sent_events (xid, id, project_id, subject, headers, payload, events, created_at)
  select xid, id, project_id, subject, headers, payload, events, created_at from gone),
over as (
  update bus.carrier set moving_before = null
   where one and moving_before is not null and not exists (select from picked))
select exists (select from picked) as more`,
};

/**
 * Queued calls of which no process would send a command: they were made or offered again while the database carried commands, so the
 * only time at which the watchdog looks at them is their deadline. They are due as soon as they may be started, and the watchdog
 * publishes their commands. A call whose command was sent and will not be sent again before its deadline looks the same; it is sent once more,
 * which a service that leases does not notice. A plain service gets a command once: only a call that had none is due. $1 how many.
 */
export const MAKE_UNSENT_DUE: Statement = {
  name: "carrier_make_unsent_due",
  text: `
with picked as materialized (
  select c.project_id, c.tool_call_id from state.live_calls c
   where c.status = 'queued' and c.available_at < c.queue_deadline and c.due_at > greatest(c.available_at, now())
     and case when c.plain then c.publishes = 0 and c.gate is null else c.due_at >= c.queue_deadline end
   limit $1 for update skip locked),
due as (
  update state.live_calls c set due_at = greatest(c.available_at, now())
    from picked p
   where c.project_id = any (array[p.project_id]) and c.tool_call_id = p.tool_call_id)
select (select count(*) from picked) >= $1 as more`,
};
