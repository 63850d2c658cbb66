// The breakers of tools and targets. The state of a breaker is on the row of its gate, which is locked while the next state is decided.

import { given, inputOf, type RowIn } from "../sql/columns.sql.ts";
import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";
import { IS_OF_TARGET, ms } from "./gates.sql.ts";
import type { BreakerState } from "./plan-breaker.ts";
import { lockGates, STANDS_SHORTLY } from "./return-tokens.sql.ts";

const gates = inputOf({
  projectId: given<string>("text"),
  gate: given<string>("text"),
});

export type GateKey = RowIn<typeof gates>;

/** Makes the rows that are locked next. A project that was deleted meanwhile gets none. */
export const MAKE_BREAKERS: Statement = {
  name: "gates.make-breakers",
  text: `
insert into state.gates (project_id, gate)
select i.project_id, i.gate
  from ${gates.from}
 where (select 1 from resource.projects p where p.project_id = i.project_id) is not null
 order by i.project_id, i.gate
on conflict do nothing`,
};

export interface BreakerRow {
  readonly ord: number;
  readonly window_at_ms: number | null;
  readonly successes: number;
  readonly failures: number;
  readonly opened_at_ms: number | null;
  readonly open_until_ms: number | null;
  readonly now_ms: number;
}

export const breakerOf = (row: BreakerRow): BreakerState => ({
  windowAtMs: row.window_at_ms,
  successes: row.successes,
  failures: row.failures,
  openedAtMs: row.opened_at_ms,
  openUntilMs: row.open_until_ms,
});

const COLUMNS = `i.ord::int as ord, ${ms("g.window_at")} as window_at_ms, g.successes, g.failures, ${ms("g.opened_at")} as opened_at_ms,
       ${ms("g.open_until")} as open_until_ms, ${ms("clock_timestamp()")} as now_ms`;

/** In key order, the order in which all statements lock them. */
export const LOCK_BREAKERS: Statement = {
  name: "gates.lock-breakers",
  text: `
select ${COLUMNS}, ${STANDS_SHORTLY}
  from ${gates.from}
  join state.gates g on g.project_id = any (array[i.project_id]) and g.gate = i.gate
 order by i.project_id, i.gate
   for update of g`,
};

export const READ_BREAKERS: Statement = {
  name: "gates.read-breakers",
  text: `
select ${COLUMNS}
  from ${gates.from}
  join state.gates g on g.project_id = any (array[i.project_id]) and g.gate = i.gate`,
};

export const bindGates = gates.bind;

/** Drops the counts of a project's targets, when `target_breaker` was set or taken away. $1 project. */
export const FORGET_TARGETS: Statement = {
  name: "gates.forget-targets",
  text: `
with known as materialized (
  select project_id, gate from state.gates
   where project_id = $1 and ${IS_OF_TARGET}
   order by project_id, gate
     for update
)
delete from state.gates g using known k where g.project_id = any (array[k.project_id]) and g.gate = k.gate`,
};

const limited = inputOf({
  toolName: given<string>("text"),
  limits: given<string | null>("text"),
  /** The time in which an empty bucket of the rate fills. */
  fillSeconds: given<number | null>("double precision"),
});

export interface KeptRow {
  readonly gate: string;
  readonly fill_seconds: number | null;
  readonly breaker: boolean;
  readonly rate: boolean;
}

/** Read before tools get new limits: which of them have a gate, and whether the breaker and the rate of the gate stay. $next: project. */
export const READ_KEPT: Statement = {
  name: "gates.read-kept",
  text: `
select g.gate, i.fill_seconds, coalesce(i.limits::jsonb -> 'breaker' is not null and t.limits -> 'breaker' is not null, false) as breaker,
       coalesce(i.limits::jsonb -> 'rate' is not null and t.limits -> 'rate' is not null, false) as rate
  from ${limited.from}
 cross join lateral (
   select q.gate from state.gates q where q.project_id = $${limited.next}::text and q.gate = i.tool_name offset 0) g
  left join lateral (
    select x.limits from resource.tools x
     where x.project_id = $${limited.next}::text and x.tool_name = i.tool_name and x.status <> 'deleted' offset 0) t on true`,
};

export const bindLimited = (rows: readonly RowIn<typeof limited>[], projectId: string): unknown[] => [
  ...limited.bind(rows),
  projectId,
];

const kept = setInput<KeptRow>([
  ["gate", "text"],
  ["fill_seconds", "double precision"],
  ["breaker", "boolean"],
  ["rate", "boolean"],
]);

/**
 * Clears the state of breakers and rates that were taken away or are new. A breaker or rate that only changes keeps its state; after a change of a
 * rate, no call waits longer than the new bucket takes to fill. The rows are locked in key order, after the rows of calls, as in all statements.
 * The caller holds the lock of the project's gates: otherwise a claim that has read a bucket would write over it. $next: project.
 */
export const FORGET_LIMITS: Statement = {
  name: "gates.forget-limits",
  text: `
with locked as materialized (select ${STANDS_SHORTLY}, ${lockGates(`$${kept.next}::text`)}),
held as materialized (
  select g.project_id, g.gate, i.fill_seconds, i.breaker, i.rate
    from (select count(*) as projects from locked) l
   cross join (select * from ${kept.from} order by i.gate) i
   cross join lateral (
     select q.project_id, q.gate from state.gates q
      where q.project_id = $${kept.next}::text and q.gate = i.gate and l.projects > 0
        for update) g
)
update state.gates g
   set full_at = case when h.rate then least(g.full_at, now() + make_interval(secs => h.fill_seconds)) end,
       window_at = case when h.breaker then g.window_at end, successes = case when h.breaker then g.successes else 0 end,
       failures = case when h.breaker then g.failures else 0 end,
       opened_at = case when h.breaker then g.opened_at end, open_until = case when h.breaker then g.open_until end
  from held h
 where g.project_id = any (array[h.project_id]) and g.gate = h.gate`,
};

export const bindKept = (rows: readonly KeptRow[], projectId: string): unknown[] => [...kept.bind(rows), projectId];

const runs = inputOf({
  projectId: given<string>("text"),
  toolCallId: given<string>("text"),
});

export interface StartRow {
  readonly ord: number;
  readonly started_at_ms: number | null;
}

/** When these runs began: of a call that has ended, or of the last attempt of one that is tried again. */
export const READ_STARTS: Statement = {
  name: "gates.read-starts",
  text: `
select i.ord::int as ord, ${ms(`coalesce(
         (select p.started_at from state.past_calls p where p.project_id = i.project_id and p.tool_call_id = i.tool_call_id),
         (select max(l.started_at) from state.call_leases l where l.project_id = i.project_id and l.tool_call_id = i.tool_call_id))`)} as started_at_ms
  from ${runs.from}`,
};

export const bindRuns = runs.bind;

type Written = GateKey & BreakerState;

const written = setInput<Written>([
  ["projectId", "text"],
  ["gate", "text"],
  ["windowAtMs", "double precision"],
  ["successes", "integer"],
  ["failures", "integer"],
  ["openedAtMs", "double precision"],
  ["openUntilMs", "double precision"],
]);

export const WRITE_BREAKERS: Statement = {
  name: "gates.write-breakers",
  text: `
update state.gates g
   set window_at = to_timestamp(i.window_at_ms / 1000), successes = i.successes, failures = i.failures,
       opened_at = to_timestamp(i.opened_at_ms / 1000), open_until = to_timestamp(i.open_until_ms / 1000)
  from ${written.from}
 where g.project_id = any (array[i.project_id]) and g.gate = i.gate`,
};

export const bindWritten = written.bind;
