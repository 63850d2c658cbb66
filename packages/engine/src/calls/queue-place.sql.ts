// Where a call stands in the queue of its target, and how many calls are before it in its line. For people who look. The place of the
// call is read first and given to the counts as values, so that they can use an index.

import type { Statement } from "../sql/database.ts";

/** More than a person wants to know; it keeps the count quick where many wait. Beyond it a number means "at least". */
export const MOST_COUNTED = 10_000;

export interface StandingRow {
  readonly running: number;
  readonly target: string;
  readonly lane: string;
  /** As text: a Date has no microseconds. */
  readonly available_at: string;
  readonly session: string | null;
  readonly pin: string | null;
  readonly gate: string | null;
  /** The lane that its gate served last. */
  readonly last_lane: string;
  /** The project has a limit in flight, and its slots are all taken. */
  readonly project_full: boolean;
}

/** $1 project, $2 call. No row when it is not open. */
export const READ_STANDING: Statement = {
  name: "calls.read-standing",
  text: `
select o.target, o.lane, o.available_at::text as available_at, o.session, o.pin, o.gate,
       coalesce((select g.last_lane from state.gates g where g.project_id = o.project_id and g.gate = o.gate), '') as last_lane,
       (select count(*)::int
          from (select 1 from state.live_calls r
                 where r.project_id = o.project_id and r.target = o.target and r.status = 'running' limit ${MOST_COUNTED}) r) as running,
       coalesce(o.gate is not null and (
         select (p.limits -> 'concurrency')::int <= (
                  select count(*) from state.live_calls r
                   where r.project_id = p.project_id and r.gate is not null and r.status = 'running')
           from resource.projects p where p.project_id = o.project_id and p.limits -> 'concurrency' is not null), false) as project_full
  from state.live_calls o
 where o.project_id = $1 and o.tool_call_id = $2`,
};

export interface BeforeRow {
  /** How many calls of its own lane, session or pin come before it. */
  readonly before: number;
  /** How many calls of the other lanes come before it. */
  readonly others: number;
}

// $1 project, $2 target, $3 when the call is available, $4 the call; from $5 on what its line is.
const IN_QUEUE = "q.project_id = $1 and q.target = $2 and q.status = 'queued'";
const IS_BEFORE = "(q.available_at, q.tool_call_id) < ($3::timestamptz, $4::text)";

const countBefore = (line: string): string => `
  select count(*)::int as calls
    from (select 1 from state.live_calls q where ${IN_QUEUE} and ${line} and ${IS_BEFORE} limit ${MOST_COUNTED}) b`;

/** $5: its lane. `comesFirst` says which lanes have their turn before its own. */
const byLane = (line: string, comesFirst: string): string => `
with recursive before as materialized (${countBefore(`${line} and q.lane = $5::text`)}),
lanes as (
  (select q.lane from state.live_calls q where ${IN_QUEUE} and ${line} order by q.lane limit 1)
  union all
  select (select q.lane from state.live_calls q where ${IN_QUEUE} and ${line} and q.lane > k.lane order by q.lane limit 1)
    from lanes k where k.lane is not null
)
select (select calls from before) as before,
       (select count(*)::int
          from (select 1
                  from lanes k
                 cross join lateral (
                   select from state.live_calls q
                    where ${IN_QUEUE} and ${line} and q.lane = k.lane and q.available_at <= greatest($3::timestamptz, now())
                    order by q.available_at, q.tool_call_id
                    limit (select calls from before) + case when ${comesFirst} then 1 else 0 end) c
                 where k.lane is not null and k.lane <> $5::text
                 limit ${MOST_COUNTED}) b) as others`;

/** Each process remembers for itself which lane it served last: any other lane may have its turn first. */
export const COUNT_FREE: Statement = {
  name: "calls.count-free-before",
  text: byLane("q.session is null and q.pin is null and q.gate is null", "true"),
};

/** The gate remembers it for all processes. $6: its gate, $7: the lane that the gate served last. */
export const COUNT_GATED: Statement = {
  name: "calls.count-gated-before",
  text: byLane(
    "q.gate is not null and q.gate = $6::text",
    "(k.lane > $7::text) = ($5::text > $7::text) and k.lane < $5::text or k.lane > $7::text and $5::text <= $7::text",
  ),
};

const inOrder = (line: string): string => `select (${countBefore(line)}) as before, 0 as others`;

/** $5: its session. */
export const COUNT_OF_SESSION: Statement = {
  name: "calls.count-of-session-before",
  text: inOrder("q.session is not null and q.session = $5::text"),
};

/** $5: its pin. */
export const COUNT_OF_PIN: Statement = {
  name: "calls.count-of-pin-before",
  text: inOrder("q.session is null and q.pin is not null and q.pin = $5::text and q.gate is null"),
};

/** How many calls that are due wait at each of the other gates of the project. $1 project, $2 target, $3 gate of the call. */
export const COUNT_OTHER_GATES: Statement = {
  name: "calls.count-other-gates",
  text: `
select count(*)::int as waiting
  from (select q.gate, q.target from state.live_calls q
         where q.project_id = $1 and q.gate is not null and q.status = 'queued' and q.available_at <= now()
           and (q.target, q.gate) <> ($2::text, $3::text)
         order by q.target, q.gate limit ${MOST_COUNTED}) w
 group by w.gate, w.target`,
};
