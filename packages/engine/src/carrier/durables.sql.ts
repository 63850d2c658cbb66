// Which services fetch commands from an external bus: pairs of project and target. $1 and $2 are such a pair unless said
// otherwise.

import { QUEUE_LINES } from "../calls/lease.sql.ts";
import type { Statement } from "../sql/database.ts";

export interface ServedRow {
  readonly project_id: string;
  readonly target: string;
  /** Whether any of its services fetches commands. If none does, they all wait for calls at the gateway. */
  readonly fetches: boolean;
}

/** The pairs that need a durable: a service said so, or a tool of a service that never leases is registered. $1 seconds until a service that fetched is forgotten. */
export const SERVED_TARGETS: Statement = {
  name: "carrier.served-targets",
  text: `
select project_id, target, bool_or(fetches) as fetches
  from (select project_id, target, coalesce(fetched_at > now() - make_interval(secs => $1::double precision), false) as fetches
          from bus.attached_targets
        union all
        select project_id, target, true from resource.tools where plain and status <> 'deleted') served
 group by project_id, target
 order by project_id, target`,
};

/** No row: the project does not exist. `fresh`: no service of the pair fetched of late. $3 whether this one does, $4 seconds until one that fetched is forgotten. */
export const ATTACH: Statement = {
  name: "carrier.attach",
  text: `
with known as materialized (select fetched_at from bus.attached_targets where project_id = $1 and target = $2),
attached as (
  insert into bus.attached_targets as a (project_id, target, fetched_at)
  select p.project_id, $2, case when $3::boolean then now() end from resource.projects p where p.project_id = $1
  on conflict (project_id, target) do update set attached_at = now(), fetched_at = coalesce(excluded.fetched_at, a.fetched_at)
  returning 1)
select $3::boolean and not exists (
         select from known where fetched_at > now() - make_interval(secs => $4::double precision)) as fresh from attached`,
};

/** Calls of this pair that wait for a service, up to $3. Their commands may have been thrown away while no service fetched. */
export const QUEUED_CALLS: Statement = {
  name: "carrier.queued-calls",
  text: `${QUEUE_LINES.map(
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
   ${QUEUE_LINES.map(
     ({ which }) => `and not exists (
     select from state.live_calls c
      where c.project_id = a.project_id and c.target = a.target and c.status = 'queued' and ${which}
     offset 0)`,
   ).join("\n   ")}`,
};
