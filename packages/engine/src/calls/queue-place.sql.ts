// Where a call stands in the queue of its target, and how many calls are before it in its line. For people who look.

import type { Statement } from "../sql/database.ts";

/** More than a person wants to know; it keeps the count quick where many wait. Beyond it a number means "at least". */
export const MOST_COUNTED = 10_000;

export interface StandingRow {
  readonly running: number;
  readonly in_session: boolean;
  readonly pinned: boolean;
  readonly gated: boolean;
  /** The project has a limit in flight, and its slots are all taken. */
  readonly project_full: boolean;
}

const OWN = "select * from state.live_calls where project_id = $1 and tool_call_id = $2";

/** $1 project, $2 call. No row when it is not open. */
export const READ_STANDING: Statement = {
  name: "calls.read-standing",
  text: `
select o.session is not null as in_session, o.pin is not null as pinned, o.gate is not null as gated,
       (select count(*)::int
          from (select 1 from state.live_calls r
                 where r.project_id = o.project_id and r.target = o.target and r.status = 'running' limit ${MOST_COUNTED}) r) as running,
       coalesce(o.gate is not null and (
         select (p.limits -> 'concurrency')::int <= (
                  select count(*) from state.live_calls r
                   where r.project_id = p.project_id and r.gate is not null and r.status = 'running')
           from resource.projects p where p.project_id = o.project_id and p.limits -> 'concurrency' is not null), false) as project_full
  from (${OWN}) o`,
};

export interface BeforeRow {
  /** Of its own lane, session or pin. */
  readonly before: number;
  /** Of the other lanes. */
  readonly others: number;
}

const IN_QUEUE = "q.project_id = o.project_id and q.target = o.target and q.status = 'queued'";
const IS_BEFORE = "(q.available_at, q.tool_call_id) < (o.available_at, o.tool_call_id)";

const countBefore = (line: string): string => `
  select count(*)::int as calls
    from (select 1 from own o join state.live_calls q on ${IN_QUEUE} and ${line} and ${IS_BEFORE} limit ${MOST_COUNTED}) b`;

/** `comesFirst` says which lanes have their turn before the own one. */
const byLane = (line: string, comesFirst: string, last: string): string => `
with recursive own as materialized (select o.*, greatest(o.available_at, now()) as at, ${last} as last from (${OWN}) o),
before as materialized (${countBefore(`${line} and q.lane = o.lane`)}),
lanes as (
  select (select q.lane from own o join state.live_calls q on ${IN_QUEUE} and ${line} order by q.lane limit 1) as lane
  union all
  select (select q.lane from own o join state.live_calls q on ${IN_QUEUE} and ${line} and q.lane > k.lane order by q.lane limit 1)
    from lanes k where k.lane is not null
)
select (select calls from before) as before,
       (select count(*)::int
          from (select 1
                  from lanes k
                 cross join own o
                 cross join lateral (
                   select from state.live_calls q
                    where ${IN_QUEUE} and ${line} and q.lane = k.lane and q.available_at <= o.at
                    order by q.available_at, q.tool_call_id
                    limit (select calls from before) + case when ${comesFirst} then 1 else 0 end) c
                 where k.lane is not null and k.lane <> o.lane
                 limit ${MOST_COUNTED}) b) as others`;

/** Each process remembers for itself which lane it served last: any other lane may have its turn first. $1 project, $2 call. */
export const COUNT_FREE: Statement = {
  name: "calls.count-free-before",
  text: byLane("q.session is null and q.pin is null and q.gate is null", "true", "''::text"),
};

/** The gate remembers it for all processes. $1 project, $2 call. */
export const COUNT_GATED: Statement = {
  name: "calls.count-gated-before",
  text: byLane(
    "q.gate is not null and q.gate = o.gate",
    "(k.lane > o.last) = (o.lane > o.last) and k.lane < o.lane or k.lane > o.last and o.lane <= o.last",
    "coalesce((select g.last_lane from state.gates g where g.project_id = o.project_id and g.gate = o.gate), '')",
  ),
};

const inOrder = (line: string): string => `
with own as materialized (${OWN})
select (${countBefore(line)}) as before, 0 as others`;

/** $1 project, $2 call. */
export const COUNT_OF_SESSION: Statement = {
  name: "calls.count-of-session-before",
  text: inOrder("q.session is not null and q.session = o.session"),
};

/** $1 project, $2 call. */
export const COUNT_OF_PIN: Statement = {
  name: "calls.count-of-pin-before",
  text: inOrder("q.session is null and q.pin is not null and q.pin = o.pin and q.gate is null"),
};

/** How many calls that are due wait at each of the other gates of the project. $1 project, $2 call. */
export const COUNT_OTHER_GATES: Statement = {
  name: "calls.count-other-gates",
  text: `
with own as materialized (${OWN})
select count(*)::int as waiting
  from (select q.gate, q.target from own o join state.live_calls q on q.project_id = o.project_id and q.gate is not null and q.status = 'queued'
           and q.available_at <= now() and (q.gate, q.target) <> (o.gate, o.target) limit ${MOST_COUNTED}) w
 group by w.gate, w.target`,
};
