// Whom commands go to, and whom none goes to any more.

import type { Statement } from "../sql/database.ts";

export interface TargetRow {
  readonly target: string;
}

const nextTarget = (after: string): string => `
select t.target from resource.tools t
 where t.status <> 'deleted' and not t.internal and t.target > ${after}
 order by t.target limit 1`;

/**
 * The targets of all registered tools, over all projects. From each to the next by the index: a hundred thousand tools of
 * a few targets are not read to find them.
 */
export const REGISTERED_TARGETS: Statement = {
  name: "carrier.targets",
  text: `
with recursive targets (target) as (
  (${nextTarget("''")})
  union all
  select (${nextTarget("found.target")}) from targets found where found.target is not null)
select target from targets where target is not null`,
};

/** Those of the given targets that a call which has not ended is for. $1 targets. */
export const TARGETS_IN_USE: Statement = {
  name: "carrier.targets_in_use",
  text: `
select distinct c.target from state.live_calls c
 where c.due_at < 'infinity' and c.target = any($1::text[])`,
};
