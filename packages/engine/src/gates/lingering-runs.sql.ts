// Runs of limited calls that another party has ended while a service had them. They keep their slots (lingering-runs.ts).

import { given, inputOf, type RowIn } from "../sql/columns.sql.ts";
import type { Statement } from "../sql/database.ts";

/** How long a row is kept after its slot is free: by then a service that lives has sent a heartbeat. */
const KEPT = "interval '1 minute'";
/** How many old rows one statement deletes. */
const MOST_SWEPT = 100;

/**
 * Common tables of a statement whose table `won` holds the calls that it settles. No slot is kept for a report, or when a result card was written
 * before: then the tool has run to its end.
 */
export const KEEP_SLOTS = `
lingering as (
  insert into state.lingering_runs (project_id, tool_call_id, gate, lease_id, holder, ended_as, started_at, run_deadline, held_until)
  select project_id, tool_call_id, gate, lease_id, lease_holder, status, started_at, run_deadline, coalesce(lease_expires_at, run_deadline)
    from won
   where gate is not null and mode <> 'report' and card_body is not null and coalesce(lease_expires_at, run_deadline) > now()
  on conflict do nothing
),
swept as (
  delete from state.lingering_runs r
   where (r.project_id, r.tool_call_id) in (
     select l.project_id, l.tool_call_id from state.lingering_runs l
      where l.project_id = any (array(select w.project_id from won w where w.gate is not null)) and l.held_until < now() - ${KEPT}
      order by l.project_id, l.tool_call_id
      limit ${MOST_SWEPT}
        for update skip locked)
)`;

/** When the slots of such runs at the gate `n` are free. The gate of the project has those of all its gates. */
export const LINGERS_UNTIL = `
  select coalesce(array_agg((extract(epoch from l.held_until) * 1000)::float8 order by l.held_until), '{}') as until_ms
    from state.lingering_runs l
   where l.project_id = n.project_id and (n.gate = '' or l.gate = n.gate) and l.held_until > clock_timestamp()`;

const runs = inputOf({
  projectId: given<string>("text"),
  toolCallId: given<string>("text"),
  leaseId: given<string | null>("text"),
});

export type LingeringRow = RowIn<typeof runs>;
export const bindLingering = runs.bind;

/** The service says that these runs are over. */
export const FREE_SLOTS: Statement = {
  name: "gates.free-slots",
  text: `
delete from state.lingering_runs r
 using ${runs.from}
 where r.project_id = any (array[i.project_id]) and r.tool_call_id = i.tool_call_id and r.lease_id is not distinct from i.lease_id
returning r.gate`,
};

/** The service still has these runs. $next: seconds of a lease. */
export const KEEP_LINGERING: Statement = {
  name: "gates.keep-lingering",
  text: `
update state.lingering_runs r
   set held_until = greatest(r.held_until, least(r.run_deadline, now() + make_interval(secs => $${runs.next}::float8)))
  from ${runs.from}
 where r.project_id = any (array[i.project_id]) and r.tool_call_id = i.tool_call_id and r.lease_id = i.lease_id`,
};
