// Which services fetch commands from an external bus: pairs of project and target. $1 and $2 are such a pair unless said
// otherwise.

import { QUEUE_LINES } from "../calls/lease.sql.ts";
import { given, inputOf, type RowIn } from "../sql/columns.sql.ts";
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

const pairs = inputOf({
  projectId: given<string>("text"),
  target: given<string>("text"),
  fetches: given<boolean>("boolean"),
});

export interface AttachedRow {
  readonly ord: number;
  /** This one fetches, and no service of the pair did of late. */
  readonly fresh: boolean;
}

/**
 * Pairs that are served, each once. No row: the project does not exist. The last parameter: seconds until a service that fetched is forgotten. Rows
 * are written in the order of their keys, because other processes attach at the same time.
 */
export const ATTACH: Statement = {
  name: "carrier.attach",
  text: `
with wanted as materialized (
  select i.ord, i.project_id, i.target, i.fetches,
         i.fetches and (
           select 1 from bus.attached_targets a
            where a.project_id = i.project_id and a.target = i.target
              and a.fetched_at > now() - make_interval(secs => $${pairs.next}::double precision)) is null as fresh
    from ${pairs.from}
   cross join lateral (select 1 from resource.projects p where p.project_id = i.project_id offset 0) p
),
attached as (
  insert into bus.attached_targets as a (project_id, target, fetched_at)
  select project_id, target, case when fetches then now() end from wanted order by project_id, target
  on conflict (project_id, target) do update set attached_at = now(), fetched_at = coalesce(excluded.fetched_at, a.fetched_at)
)
select ord::int as ord, fresh from wanted`,
};

export const bindAttach = (rows: readonly RowIn<typeof pairs>[], forgottenAfterSeconds: number): unknown[] => [
  ...pairs.bind(rows),
  forgottenAfterSeconds,
];

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
