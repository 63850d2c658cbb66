// The statements of admission.ts. The bucket of a project is the row of a gate. The statement that takes tokens locks that row, so it decides by
// the newest value.

import type { Rate } from "@toolplane/protocol";
import type { ProjectLimits } from "@toolplane/protocol/registry";
import type { Statement } from "../sql/database.ts";
import { IS_READY } from "./queue-places.sql.ts";

export interface ProjectLimitsRow {
  readonly limits: ProjectLimits;
}

/** $1 project. */
export const READ_PROJECT_LIMITS: Statement = {
  name: "registry.read-limits",
  text: "select limits from resource.projects where project_id = $1",
};

export interface GrantRow {
  readonly granted: number;
  /** Until there is one token again. */
  readonly wait_ms: number;
}

/** No tool has this name. */
const RATE_GATE = "/rate";

/** A bucket never misses more than it holds, also after its rate was changed. */
const FULL_AT = "least(g.full_at, now() + make_interval(secs => $3::float8 * $2::float8))";
const TOKENS = `floor($3::float8 - extract(epoch from greatest(${FULL_AT} - now(), interval '0')) / $2::float8 + 1e-6)::int`;

/** Takes up to $4 tokens of a project's bucket. $1 project, $2 seconds for one token, $3 tokens in a full bucket. */
export const TAKE_TOKENS: Statement = {
  name: "gates.take-tokens",
  text: `
insert into state.gates as g (project_id, gate, full_at, granted)
select p.project_id, '${RATE_GATE}', now() + make_interval(secs => least($4::int, $3::float8) * $2::float8), least($4::int, $3::float8)::int
  from resource.projects p where p.project_id = $1
on conflict (project_id, gate) do update
   set granted = greatest(least($4::int, ${TOKENS}), 0),
       full_at = greatest(${FULL_AT}, now()) + make_interval(secs => greatest(least($4::int, ${TOKENS}), 0) * $2::float8)
returning granted, greatest(extract(epoch from g.full_at - now()) - ($3::float8 - 1) * $2::float8, 0)::float8 * 1000 as wait_ms`,
};

/** A project without a rate has no bucket: a rate that is set again later begins with a full one. $1 project. */
export const FORGET_TOKENS: Statement = {
  name: "gates.forget-tokens",
  text: `delete from state.gates where project_id = $1 and gate = '${RATE_GATE}'`,
};

/** Gives $4 tokens back, which were taken for calls that were not made; a bucket is never more than full. $1 to $3 as above. */
export const RETURN_TAKEN_TOKENS: Statement = {
  name: "gates.return-taken-tokens",
  text: `
update state.gates g
   set full_at = greatest(${FULL_AT} - make_interval(secs => $4::int * $2::float8), least(g.full_at, now()))
 where g.project_id = $1 and g.gate = '${RATE_GATE}'`,
};

export const bindTokens = (projectId: string, rate: Rate, burst: number, count: number): unknown[] => [
  projectId,
  rate.per_seconds / rate.limit,
  burst,
  count,
];

export interface QueuedRow {
  readonly queued: number;
  /** How many of them wait for nothing but a service. */
  readonly ready: number;
  /** How long ago the newest of them was made; null when there is none. */
  readonly newest_ms: number | null;
}

/** How many calls of the project wait, for a service or for a person, counted up to $2. $1 project. */
export const COUNT_QUEUED: Statement = {
  name: "gates.count-queued",
  text: `
select count(*)::int as queued, count(*) filter (where ${IS_READY})::int as ready,
       (extract(epoch from now() - max(created_at)) * 1000)::float8 as newest_ms
  from (select status, available_at, created_at from state.live_calls where project_id = $1 and status in ('queued', 'awaiting_approval') limit $2::int) q`,
};

export interface OpenRow {
  /** Null: the whole plane. */
  readonly project_id: string | null;
  readonly open: number;
}

/** How many calls are open in the whole plane, counted up to $1, and in each project that has at least $2 of them. */
export const COUNT_OPEN: Statement = {
  name: "gates.count-open",
  text: `
select c.project_id, count(*)::int as open
  from (select project_id from state.live_calls order by project_id, tool_call_id limit $1::int) c
 group by grouping sets ((c.project_id), ())
having grouping(c.project_id) = 1 or count(*) >= $2::int`,
};

/** How many calls of the project are open, counted up to $2. $1 project. */
export const COUNT_OPEN_OF_PROJECT: Statement = {
  name: "gates.count-open-of-project",
  text: "select count(*)::int as open from (select 1 from state.live_calls where project_id = $1 limit $2::int) c",
};
