// Sessions. Their state is written where calls settle and read where they are leased; here old ones are deleted.

import type { Statement } from "../sql/database.ts";

/** Sessions that were not used for so long. $1 project, $2 not used, $3 seconds, $4 limit. */
export const FORGET_SESSIONS: Statement = {
  name: "retention.forget-sessions",
  text: `
with old as materialized (
  select project_id, session from state.sessions
   where project_id = $1 and $2::text is not null and updated_at < now() - make_interval(secs => $3::double precision)
   order by project_id, updated_at
   limit $4
     for update skip locked
),
gone as (
  delete from state.sessions s using old o where s.project_id = any (array[o.project_id]) and s.session = o.session
)
select count(*)::int as forgotten from old`,
};
