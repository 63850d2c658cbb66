// Deletes batches that ended, with their tasks and the edges that say when they began and ended. The waiting call and the
// children's turns are deleted separately, by their own age.

import type { Statement } from "../sql/database.ts";

// "offset 0" keeps the lookup of edges a lookup; edges are never changed, so they are deleted where they were found.
/** $1 project, $2 no younger batch than this, $3 seconds since it ended, $4 limit. */
export const FORGET_BATCHES: Statement = {
  name: "retention.forget-batches",
  text: `
with old as materialized (
  select project_id, batch_id
    from state.batches
   where project_id = $1 and batch_id < $2 and ended_at < now() - make_interval(secs => $3::double precision)
   order by project_id, batch_id
   limit $4::int
     for update skip locked
),
unlinked as (
  delete from state.edges e where e.ctid = any (array(
    select l.ctid from old o cross join unnest(array['request', 'response']) as p (edge_phase) cross join lateral (
      select x.ctid from state.edges x
       where x.project_id = o.project_id and x.correlation_id = o.batch_id and x.primitive = 'join' and x.edge_phase = p.edge_phase
       offset 0) l))
),
gone as (
  delete from state.batches b using old o where b.project_id = any (array[o.project_id]) and b.batch_id = o.batch_id
)
select count(*)::int as forgotten from old`,
};
