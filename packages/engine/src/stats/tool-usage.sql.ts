// How a tool did: its newest settled calls, by the index of its name, and its open ones. Bounded, so that a tool with millions of calls
// costs as much as one with $3.
//   $1 project, $2 tool, $3 rows of settled calls that are read at most.

import type { Statement } from "../sql/database.ts";

const NEWEST = `
  select p.status, p.error_code, p.created_at, p.settled_at
    from state.past_calls p
   where (p.project_id || ' ' || p.tool_name) = ($1::text || ' ' || $2::text)
   order by p.tool_call_id desc
   limit $3::int`;

export interface UsageRow {
  readonly ended: number;
  readonly failed: number;
  readonly open: number;
  readonly since: Date | null;
  readonly median_ms: number | null;
  readonly slow_ms: number | null;
}

const MS = "extract(epoch from n.settled_at - n.created_at) * 1000";

export const READ_USAGE: Statement = {
  name: "stats.tool-usage",
  text: `
with newest as (${NEWEST})
select count(*)::int as ended, count(*) filter (where n.status in ('failed', 'timeout'))::int as failed, min(n.created_at) as since,
       (percentile_disc(0.5) within group (order by ${MS}))::float8 as median_ms,
       (percentile_disc(0.95) within group (order by ${MS}))::float8 as slow_ms,
       (select count(*)::int from (select 1 from state.live_calls l where l.project_id = $1 and l.tool_call_id > '' and l.tool_name = $2
                                    limit $3::int) o) as open
  from newest n`,
};

export interface UsageErrorRow {
  readonly code: string;
  readonly calls: number;
}

/** The most frequent codes first. */
export const READ_USAGE_ERRORS: Statement = {
  name: "stats.tool-usage-errors",
  text: `
with newest as (${NEWEST})
select n.error_code as code, count(*)::int as calls
  from newest n
 where n.error_code is not null
 group by n.error_code
 order by calls desc, code
 limit 20`,
};
