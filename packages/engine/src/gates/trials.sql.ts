// The trials of breakers whose time is over, as new calls see them. Read only for such a breaker, and without a lock: a call that is made in
// the moment in which a trial begins may be let in beside it, and waits at the gate.

import { given, inputOf } from "../sql/columns.sql.ts";
import type { Statement } from "../sql/database.ts";
import { TARGET_GATES } from "./gate.ts";
import { ms } from "./gates.sql.ts";
import type { Trials } from "./plan-refusal.ts";

const gates = inputOf({
  projectId: given<string>("text"),
  gate: given<string>("text"),
  /** Where the calls of the gate wait. */
  target: given<string>("text"),
});

export interface TrialsRow extends Trials {
  readonly ord: number;
}

const IS_TARGET = `starts_with(i.gate, '${TARGET_GATES}')`;

/** Calls for later and those that wait for a person cannot be the trial. The order is that of the index of limited calls. */
const waiting = (isOfGate: string): string => `
    select greatest(q.available_at, g.open_until) from state.live_calls q
     where q.project_id = i.project_id and q.target = i.target and q.gate is not null and q.status = 'queued' and ${isOfGate}
       and q.available_at <= now() and q.queue_deadline > now()
     order by q.gate, q.lane, q.available_at limit 1`;

/** The gate remembers the call that passed it last as a trial; one that began before the time of the breaker was over belongs to an earlier opening. */
export const READ_TRIALS: Statement = {
  name: "gates.read-trials",
  text: `
select i.ord::int as ord,
       ${ms(`(select c.started_at from state.live_calls c
         where c.project_id = g.project_id and c.tool_call_id = g.trial and c.status = 'running' and c.started_at >= g.open_until)`)} as running_since_ms,
       ${ms(`(select l.started_at from state.lingering_runs l
         where l.project_id = g.project_id and l.tool_call_id = g.trial and l.started_at >= g.open_until
           and l.held_until > clock_timestamp())`)} as lingering_since_ms,
       ${ms(`(case when ${IS_TARGET} then (${waiting("true")})
             else (${waiting("q.gate = i.gate")}) end)`)} as waiting_since_ms
  from ${gates.from}
  join state.gates g on g.project_id = any (array[i.project_id]) and g.gate = i.gate
 where g.open_until <= clock_timestamp()`,
};

export const bindTrials = gates.bind;
