// The gates in SQL. These statements read under the lock of the project, and plan-passage.ts decides which calls may pass. The count is a
// statement of its own: in the statement that takes the lock it would see the state before the lock.

import { HOLDER, IS_DUE, IS_RATED, SESSION_STATE, take } from "../calls/lease.sql.ts";
import { walkGates } from "../calls/walk-queued.sql.ts";
import { type GivenOf, given, inputOf, type RowIn } from "../sql/columns.sql.ts";
import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";
import { type GateLimits, type GateState, TARGET_GATES } from "./gate.ts";
import { LINGERS_UNTIL } from "./lingering-runs.sql.ts";
import type { GateMark } from "./plan-passage.ts";
import { lockGates, STANDS_SHORTLY } from "./return-tokens.sql.ts";

/** $1 projects, sorted. */
export const LOCK_PROJECTS: Statement = {
  name: "gates.lock-projects",
  text: `
select ${STANDS_SHORTLY}, ${lockGates("p.project_id")}
  from unnest($1::text[]) with ordinality as p (project_id, place)
 order by p.place`,
};

export interface GateRow {
  readonly ord: number;
  readonly project_id: string;
  readonly gate: string;
  /** Calls of the request wait at it; false for the gates of their project and of their target, which they pass as well. */
  readonly waits: boolean;
  readonly limits: GateLimits | null;
  readonly running: number;
  readonly lingers_until_ms: readonly number[];
  readonly trials: number;
  readonly lingering_trials: number;
  readonly full_at_ms: number | null;
  readonly last_lane: string | null;
  readonly last_gate: string | null;
  readonly opened_at_ms: number | null;
  readonly open_until_ms: number | null;
  readonly now_ms: number;
}

export const gateStateOf = (row: GateRow): GateState => ({
  projectId: row.project_id,
  gate: row.gate,
  limits: row.limits ?? {},
  running: row.running + row.lingers_until_ms.length,
  lingersUntilMs: row.lingers_until_ms,
  trials: row.trials + row.lingering_trials,
  lingeringTrials: row.lingering_trials,
  fullAtMs: row.full_at_ms,
  lastLane: row.last_lane ?? "",
  lastGate: row.last_gate ?? "",
  openedAtMs: row.opened_at_ms,
  openUntilMs: row.open_until_ms,
  nowMs: row.now_ms,
});

/** A gate of a target, by its name. */
export const IS_OF_TARGET = `gate >= '${TARGET_GATES}' and gate < '${TARGET_GATES.slice(0, -1)}0'`;

/** A time of the database in milliseconds. */
export const ms = (time: string): string => `(extract(epoch from ${time}) * 1000)::float8`;

const isTarget = (gate: string): string => `starts_with(${gate}, '${TARGET_GATES}')`;
const IS_TARGET = isTarget("n.gate");
/** The target of a target's gate. */
const itsTarget = (gate: string): string => `substr(${gate}, ${TARGET_GATES.length + 1})`;

/** The process that settled a trial counts its end at once. When it dies before that, the next trial waits so long. */
const COUNTED_WITHIN = "interval '10 seconds'";

/**
 * A trial that has ended, and whose end is not counted yet: once it is, the breaker is closed or open until a later time. The end of a canceled
 * call decides nothing, but its run may go on.
 */
const UNCOUNTED_TRIAL = `
         + case when s.open_until is null or s.trial is null then 0 else (select count(*)::int from (
             (select 1 from state.past_calls p
               where p.project_id = n.project_id and p.tool_call_id = s.trial and p.started_at >= s.open_until and p.status <> 'canceled'
                 and p.settled_at > clock_timestamp() - ${COUNTED_WITHIN})
             union all
             (select 1 from state.call_leases e
               where e.project_id = n.project_id and e.tool_call_id = s.trial and e.started_at >= s.open_until and e.ended = 'failed'
                 and e.ended_at > clock_timestamp() - ${COUNTED_WITHIN} limit 1)) u) end`;

/** Whether a run `l` that has ended while its service runs it was a call of this gate of a tool or target. */
const lingersAt = (gate: string): string => `case when ${isTarget(gate)}
                    then (select p.target from state.past_calls p
                           where p.project_id = l.project_id and p.tool_call_id = l.tool_call_id) = ${itsTarget(gate)}
                    else l.gate = ${gate} end`;

/** Trials that another party has ended while their services run them. */
const LINGERING_TRIALS = `case when s.open_until is null then 0 else (select count(*)::int from state.lingering_runs l
             where l.project_id = n.project_id and l.started_at >= s.open_until and l.held_until > clock_timestamp()
               and ${lingersAt("n.gate")}) end`;

// The rate, the queue and the tasks of a project are not held at its gate. Trials are runs that began after the time of a breaker was
// over; a run that began before is none, however long it takes.
const STATE = `
select n.ord::int as ord, n.project_id, n.gate, n.waits,
       case when n.gate = '' then (select jsonb_build_object('concurrency', p.limits -> 'concurrency') from resource.projects p
                                    where p.project_id = n.project_id and (p.limits -> 'concurrency') is not null)
            when ${IS_TARGET} then (select jsonb_build_object('breaker', p.limits -> 'target_breaker') from resource.projects p
                                     where p.project_id = n.project_id)
            else (select t.limits from resource.tools t where t.project_id = n.project_id and t.tool_name = n.gate) end as limits,
       case when n.gate = '' then (select count(*)::int from state.live_calls c
                                    where c.project_id = n.project_id and c.gate is not null and c.status = 'running')
            when ${IS_TARGET} then 0
            else (select count(*)::int from state.live_calls c
                   where c.project_id = n.project_id and c.gate is not null and c.gate = n.gate and c.status = 'running') end as running,
       r.until_ms as lingers_until_ms,
       case when s.open_until is null then 0
            when ${IS_TARGET} then (select count(*)::int from state.live_calls c
                                     where c.project_id = n.project_id and c.gate is not null and c.status = 'running'
                                       and c.target = ${itsTarget("n.gate")} and c.started_at >= s.open_until)
            else (select count(*)::int from state.live_calls c
                   where c.project_id = n.project_id and c.gate is not null and c.gate = n.gate and c.status = 'running'
                     and c.started_at >= s.open_until) end${UNCOUNTED_TRIAL} as trials,
       ${LINGERING_TRIALS} as lingering_trials,
       ${ms("s.full_at")} as full_at_ms, s.last_lane, s.last_gate, ${ms("s.opened_at")} as opened_at_ms,
       ${ms("s.open_until")} as open_until_ms, ${ms("clock_timestamp()")} as now_ms
  from named n
  left join lateral (
    select * from state.gates g where g.project_id = n.project_id and g.gate = n.gate offset 0) s on true
 cross join lateral (${LINGERS_UNTIL} offset 0) r`;

/** The gates of what waits, of their projects, and of their targets where these have breakers. */
const NAMED = `
named as materialized (
  select ord, project_id, gate, true as waits from waiting
  union
  select ord, project_id, '', false from waiting
  union
  select w.ord, w.project_id, '${TARGET_GATES}' || w.target, false from waiting w
   where (select p.limits -> 'target_breaker' from resource.projects p where p.project_id = w.project_id) is not null
)`;

/** How many limited tools of a project are listed; of more, the first. */
const MOST_SHOWN = 500;

/** Every gate of a project: its own, those of its limited tools, and of its targets those whose breaker has counted. $1 project. */
export const READ_PROJECT_GATES: Statement = {
  name: "gates.read-of-project",
  text: `
with named as materialized (
  select 1 as ord, $1::text as project_id, '' as gate, false as waits
  union all
  (select 1, t.project_id, t.tool_name, false from resource.tools t
    where t.project_id = $1 and t.limits is not null and t.status <> 'deleted' order by t.tool_name limit ${MOST_SHOWN})
  union all
  (select 1, g.project_id, g.gate, false from state.gates g
    where g.project_id = $1 and ${IS_OF_TARGET}
      and (select p.limits -> 'target_breaker' from resource.projects p where p.project_id = $1) is not null
    order by g.gate limit ${MOST_SHOWN})
)${STATE}`,
};

export interface WaitingCountRow {
  readonly gate: string;
  readonly target: string;
  readonly waiting: number;
}

/** How many calls of each target wait at each gate of a project, counted up to $2. $1 project. */
export const COUNT_WAITING: Statement = {
  name: "gates.count-waiting",
  text: `
select q.gate, q.target, count(*)::int as waiting
  from (select c.gate, c.target from state.live_calls c
         where c.project_id = $1 and c.gate is not null and c.status = 'queued' limit $2::int) q
 group by q.gate, q.target`,
};

/** How many gates of one target a look reads: as many as a claim can take calls. */
export const MOST_GATES = 256;

const places = inputOf({
  projectId: given<string>("text"),
  target: given<string>("text"),
  /** Gates behind this one first; null: behind the one that the project served last. */
  behind: given<string | null>("text"),
});

export type PlaceRow = RowIn<typeof places>;

/** The gates where calls of these targets wait, each with those of its project and target. */
export const READ_WAITING_GATES: Statement = {
  name: "gates.read-waiting",
  text: `
with wanted as materialized (
  select i.ord, i.project_id, i.target, coalesce(i.behind, (
    select g.last_gate from state.gates g where g.project_id = i.project_id and g.gate = ''), '') as behind
    from ${places.from}),
waiting as materialized (
  select w.ord, w.project_id, w.target, k.gate
    from wanted w
   cross join lateral (${walkGates(MOST_GATES)}) k
),${NAMED}${STATE}`,
};

export const bindPlaces = places.bind;

const CALLS = inputOf({
  projectId: given<string>("text"),
  toolCallId: given<string>("text"),
  pins: given<string>("text"),
});

/** The gates of these calls, as far as they wait at one, each with those of its project and target. */
export const READ_GATES_OF_CALLS: Statement = {
  name: "gates.read-of-calls",
  text: `
with wanted as materialized (select * from ${CALLS.from}),
waiting as materialized (
  select w.ord, w.project_id, c.target, c.gate
    from wanted w
   cross join lateral (
     select gate, target from state.live_calls q
      where q.project_id = w.project_id and q.tool_call_id = w.tool_call_id and q.gate is not null and q.status = 'queued' offset 0) c
),${NAMED}${STATE}`,
};

export const bindCalls = CALLS.bind;

const PASSED = {
  request: given<number>("integer"),
  projectId: given<string>("text"),
  toolCallId: given<string>("text"),
  ...HOLDER,
} as const;

export type PassedRow = GivenOf<typeof PASSED>;
const passed = inputOf(PASSED);

/** Leases the calls that pass. */
export const TAKE_PASSED: Statement = {
  name: "gates.take-passed",
  text: `
with picked as materialized (
  select w.request as ord, w.lease_id, w.holder, w.lease_seconds, 1 as lanes, false as forgettable, c.*
    from ${passed.from.replace(" as i (", " as w (")}
   cross join lateral (
     select project_id, tool_call_id
       from state.live_calls
      where project_id = w.project_id and tool_call_id = w.tool_call_id and ${IS_DUE}
        for update skip locked) c
),${take("c.project_id = any (array[p.project_id]) and c.tool_call_id = p.tool_call_id", SESSION_STATE, IS_RATED)}`,
};

export const bindPassed = passed.bind;

export interface SlotRow {
  readonly tool_call_id: string;
  readonly lease_holder: string | null;
  readonly started_at: Date | null;
  /** Its slot is free then when its service is not heard; null for a service without leases. */
  readonly lease_until: Date | null;
  /** Its slot is free then at the latest: a service that lives may hold it so long. */
  readonly run_deadline: Date | null;
  /** The status of a call that has ended while its service runs it. */
  readonly ended_as: string | null;
}

/** The calls that hold the slots of a gate; of the project's gate those of all its gates, of a target's those of the target. $1 project, $2 gate, $3 how many, $4 only trials. */
export const READ_SLOTS: Statement = {
  name: "gates.read-slots",
  text: `
with trials as materialized (
  select case when $4::boolean then (select g.open_until from state.gates g where g.project_id = $1 and g.gate = $2::text)
              else '-infinity' end as since)
(select tool_call_id, lease_holder, started_at, lease_expires_at as lease_until, run_deadline, null as ended_as
  from state.live_calls
 where project_id = $1 and gate is not null and ($2::text = '' or gate = $2::text
        or (${isTarget("$2::text")} and target = ${itsTarget("$2::text")})) and status = 'running'
   and started_at >= (select since from trials)
 order by run_deadline, tool_call_id
 limit $3::int)
union all
(select tool_call_id, holder, started_at, held_until, coalesce(run_deadline, held_until), ended_as
  from state.lingering_runs l
 where project_id = $1 and ($2::text = '' or ${lingersAt("$2::text")}) and started_at >= (select since from trials) and held_until > now()
 order by coalesce(run_deadline, held_until), tool_call_id
 limit $3::int)
 order by run_deadline, tool_call_id
 limit $3::int`,
};

const marks = setInput<GateMark>([
  ["projectId", "text"],
  ["gate", "text"],
  ["fullAtMs", "double precision"],
  ["lastLane", "text"],
  ["lastGate", "text"],
  ["trial", "text"],
]);

/** What the gates remember of the calls that passed. A project that was deleted meanwhile has no gates. */
export const MARK_GATES: Statement = {
  name: "gates.mark",
  text: `
insert into state.gates as g (project_id, gate, full_at, last_lane, last_gate, trial)
select i.project_id, i.gate, to_timestamp(i.full_at_ms / 1000), i.last_lane, i.last_gate, i.trial
  from ${marks.from}
 where (select 1 from resource.projects p where p.project_id = i.project_id) is not null
 order by i.project_id, i.gate
on conflict (project_id, gate) do update
   set full_at = excluded.full_at, last_lane = excluded.last_lane, last_gate = excluded.last_gate, trial = coalesce(excluded.trial, g.trial)`,
};

export const bindMarks = marks.bind;
