// What a watchdog reads and changes besides settling. Rows are locked, and rows that others hold are skipped: any number may run.

import { keepLeases, TELL_RETRIED } from "../calls/ended-leases.sql.ts";
import { isHeld, offeredAt, RECHECK_PAUSED, SEND_OFFERED, WANTED_AT } from "../calls/offer.sql.ts";
import { FACT_COLUMNS } from "../calls/read.sql.ts";
import { given, inputOf, type RowIn } from "../sql/columns.sql.ts";
import type { Statement } from "../sql/database.ts";

// How far a sweep looks for each call that it takes. With a hundred thousand due it reads some ten thousand keys, in as many milliseconds.
const LOOKED_FOR_EACH = 50;

/**
 * The line of due calls behind $2, in the order of their turns: one of each project, and running calls first, whose holders may be
 * dead. $1 how many are wanted. `line` holds more than that, so a project with many calls does not hide another one's.
 */
const TURNS = `
with line as materialized (
  select project_id, tool_call_id, status, due_at from state.live_calls
   where due_at <= now() and due_at > $2::timestamptz
   order by due_at
   limit $1::int * ${LOOKED_FOR_EACH}
),
turns as materialized (
  select project_id, tool_call_id from (
    select l.*, row_number() over (partition by l.project_id order by l.status <> 'running', l.due_at) as turn from line l) t
   order by t.turn, t.status <> 'running', t.due_at
)`;

/** Where the line goes on, or null at its end. */
const LINE_END = `(select max(due_at)::text from line having count(*) = $1::int * ${LOOKED_FOR_EACH}) as line_end`;

/** The whole line. */
export const LINE_START = "-infinity";

/** With the database's view of which deadline passed. */
const dueOf = (calls: string): string => `
select ${FACT_COLUMNS}, c.status, c.attempts, c.publishes, c.lease_id, c.lease_holder,
       c.queue_deadline <= now() as queue_over,
       coalesce(c.run_deadline <= now(), false) as run_over,
       coalesce(c.lease_expires_at <= now(), false) as lease_over,
       coalesce(c.lease_expires_at < c.run_deadline, false) as lapses_first,
       (select count(*)::int from state.call_leases l
         where l.project_id = any (array[c.project_id]) and l.tool_call_id = c.tool_call_id and l.ended = 'lapsed') as lapses,
       extract(epoch from now() - coalesce(c.started_at, c.created_at))::float8 as age_seconds,
       coalesce(c.due_at > least(c.lease_expires_at, c.run_deadline), false) as put_off,
       c.available_at = 'infinity' as out_of_queue,
       coalesce(t.status = 'active', true) as tool_active
  from ${calls} c
  left join resource.tools t on t.project_id = any (array[c.project_id]) and t.tool_name = c.tool_name`;

/** Calls that are due, locked. $1 limit, $2 behind this time. */
export const READ_DUE: Statement = {
  name: "watchdog.read-due",
  text: `${TURNS},
locked as materialized (
  select c.*, ${LINE_END}
    from turns k
   cross join lateral (
     select * from state.live_calls q
      where q.project_id = k.project_id and q.tool_call_id = k.tool_call_id and q.due_at <= now()
        for update skip locked) c
   limit $1
)${dueOf("locked").replace("c.status,", "c.line_end, c.status,")}`,
};

/** One of them, locked. $1 project, $2 call. */
export const READ_DUE_CALL: Statement = {
  name: "watchdog.read-due-call",
  text: `${dueOf("state.live_calls")}
 where c.project_id = $1 and c.tool_call_id = $2 and c.due_at <= now()
   for update of c skip locked`,
};

/** The same calls by key, to look at them one by one. $1 limit, $2 behind this time. */
export const READ_DUE_KEYS: Statement = {
  name: "watchdog.read-due-keys",
  text: `${TURNS}
select project_id, tool_call_id from turns limit $1`,
};

const requeues = inputOf({
  projectId: given<string>("text"),
  toolCallId: given<string>("text"),
  /** Back in the queue after so many seconds. */
  delaySeconds: given<number>("double precision"),
  /** Look at it again after so many seconds at the latest; null: only its queue deadline. */
  recheckSeconds: given<number | null>("double precision"),
  /** The command's payload when an external bus must carry it again. */
  commandPayload: given<string | null>("text"),
});

const OFFERED = `greatest(now() + make_interval(secs => i.delay_seconds), ${WANTED_AT})`;

// Only the call of a plain service has a run deadline while it is queued: from when its command was sent, which happens once.
const RUN_UNTIL = `case when c.status <> 'queued' or not c.plain or (${isHeld("c")} and c.publishes = 0) then null
  when c.publishes = 0 then ${OFFERED} + make_interval(secs => c.timeout_seconds) else c.run_deadline end`;

/**
 * Offers calls again, whose rows are locked. A call whose time has come leaves the lane of those for later for the lane of its agent. For a call that had been running the queue deadline starts again: it did not wait in the
 * queue.
 */
export const REQUEUE: Statement = {
  name: "watchdog.requeue",
  text: `
with input as materialized (select * from ${requeues.from}),
ended as materialized (
  select i.ord, c.*
    from input i
   cross join lateral (
     select * from state.live_calls q
      where q.project_id = i.project_id and q.tool_call_id = i.tool_call_id and q.status = 'running' offset 0) c
),
kept as (${keepLeases("lapsed")}
),
told as (${TELL_RETRIED}
),
offered as (
  update state.live_calls c
     set status = 'queued', lease_id = null, lease_holder = null, lease_expires_at = null, run_deadline = ${RUN_UNTIL}, started_at = null,
         available_at = ${offeredAt(OFFERED)}, lane = case when ${WANTED_AT} <= now() then c.agent_id else c.lane end,
         queue_deadline = case when c.status = 'running' then now() + make_interval(secs => c.queue_timeout_seconds) else c.queue_deadline end,
         publishes = c.publishes + case when i.command_payload is null or ${isHeld("c")} or ${offeredAt("now()")} = 'infinity' then 0 else 1 end,
         due_at = least(
           case when c.status = 'running' then now() + make_interval(secs => c.queue_timeout_seconds) else c.queue_deadline end,
           ${OFFERED} + make_interval(secs => i.recheck_seconds),
           case when i.recheck_seconds is null and ${WANTED_AT} > now() then ${WANTED_AT} end,
           ${RUN_UNTIL},
           ${RECHECK_PAUSED})
    from input i
   where c.project_id = any (array[i.project_id]) and c.tool_call_id = i.tool_call_id
  returning i.ord, i.command_payload, c.project_id, c.subject, c.target, c.headers, c.available_at, c.plain, c.gate
),
sent as (${SEND_OFFERED}
)
select ord::int as ord from offered`,
};

export const bindRequeue = requeues.bind;

const postpones = inputOf({
  projectId: given<string>("text"),
  toolCallId: given<string>("text"),
  seconds: given<number>("double precision"),
});

/** Nothing to do yet: look again later, or when the queue deadline of a waiting call comes if it is still to come. */
export const POSTPONE: Statement = {
  name: "watchdog.postpone",
  text: `
update state.live_calls c
   set due_at = least(case when c.status <> 'running' and c.queue_deadline > now() then c.queue_deadline end, now() + make_interval(secs => i.seconds))
  from ${postpones.from}
 where c.project_id = any (array[i.project_id]) and c.tool_call_id = i.tool_call_id`,
};

export const bindPostpone = postpones.bind;

const deadLetters = inputOf({
  projectId: given<string>("text"),
  deadLetterId: given<string>("text"),
  toolCallId: given<string>("text"),
  subject: given<string>("text"),
  headers: given<string>("text"),
  payload: given<string>("text"),
  code: given<string>("text"),
  reason: given<string>("text"),
  attempts: given<number>("integer"),
});

export type DeadLetterRow = RowIn<typeof deadLetters>;

export const BURY: Statement = {
  name: "watchdog.bury",
  text: `
insert into state.dead_letters (project_id, dead_letter_id, kind, tool_call_id, subject, headers, payload, code, reason, attempts)
select project_id, dead_letter_id, 'call', tool_call_id, subject, headers, payload, code, reason, attempts
  from ${deadLetters.from}
on conflict do nothing`,
};

export const bindDeadLetters = deadLetters.bind;
