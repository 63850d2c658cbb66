// Which services fetch commands from an external bus: pairs of project and target. $1 and $2 are such a pair unless said
// otherwise.

import type { Statement } from "../sql/database.ts";

export interface ServedRow {
  readonly project_id: string;
  readonly target: string;
}

/** The pairs that need a durable: a service said so, or a tool of a service that never leases is registered. */
export const SERVED_TARGETS: Statement = {
  name: "carrier.served-targets",
  text: `
select project_id, target from bus.attached_targets
 union
select project_id, target from resource.tools where plain and status <> 'deleted'
 order by project_id, target`,
};

/** No row: the project does not exist. `fresh`: the pair was not known before. */
export const ATTACH: Statement = {
  name: "carrier.attach",
  text: `
insert into bus.attached_targets as a (project_id, target)
select p.project_id, $2 from resource.projects p where p.project_id = $1
on conflict (project_id, target) do update set attached_at = now()
returning (xmax = 0) as fresh`,
};

// Queued calls stand in one of these lines, each with an index of its own; spelt as the condition of the index.
const LINES = [
  { which: "session is null and pin is null and gate is null", order: "lane" },
  { which: "session is null and pin is not null and gate is null", order: "pin" },
  { which: "session is not null", order: "session" },
  { which: "gate is not null", order: "gate" },
] as const;

/** Calls of this pair that wait for a service, up to $3. Their commands may have been thrown away while no service fetched. */
export const QUEUED_CALLS: Statement = {
  name: "carrier.queued-calls",
  text: `${LINES.map(
    ({ which, order }) => `
(select tool_call_id from state.live_calls
  where project_id = $1 and target = $2 and status = 'queued' and ${which}
    and available_at <= now() and not plain
  order by ${order}, available_at, tool_call_id
  limit $3::int)`,
  ).join("\nunion")}
limit $3::int`,
};

/** Pairs that no service has named for so long ($1, seconds) and for which no call is queued. */
export const DETACH: Statement = {
  name: "carrier.detach",
  text: `
delete from bus.attached_targets a
 where a.attached_at < now() - make_interval(secs => $1::double precision)
   ${LINES.map(
     ({ which }) => `and not exists (
     select from state.live_calls c
      where c.project_id = a.project_id and c.target = a.target and c.status = 'queued' and ${which}
     offset 0)`,
   ).join("\n   ")}`,
};
