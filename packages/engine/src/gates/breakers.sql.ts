// The breakers of tools and targets: their state stands on the rows of their gates, locked while it is decided.

import { given, inputOf, type RowIn } from "../sql/columns.sql.ts";
import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";
import { ms } from "./gates.sql.ts";
import type { BreakerState } from "./plan-breaker.ts";

const gates = inputOf({
  projectId: given<string>("text"),
  gate: given<string>("text"),
});

export type GateKey = RowIn<typeof gates>;

/** Rows to lock. A project that was deleted meanwhile has none. */
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
select ${COLUMNS}
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
