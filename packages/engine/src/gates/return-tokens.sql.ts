// Tokens that go back into their bucket: a call was leased, which took one, and was given back before it started. Part of the statement that
// gives the call back, so that both happen or neither.

/** One claim of limited calls at a time in a project; held to the end of the transaction. */
export const lockGates = (project: string): string =>
  `pg_advisory_xact_lock(hashtextextended('toolplane gates ' || ${project}, 0))`;

/**
 * For transactions of several statements that hold this lock, or rows of gates. When their process stands still between two of these (it is paused,
 * or cut off from the database), the server ends the transaction after two seconds instead of ten (database.ts): all claims wait for it meanwhile,
 * also those of other projects that are in one statement with a claim of this project.
 */
export const STANDS_SHORTLY = "set_config('idle_in_transaction_session_timeout', '2s', true)";

/**
 * Common tables for a statement whose table `ended` holds the calls that are given back. A bucket is never filled beyond its size. The
 * statement takes the lock of the project, because a claim that has read the bucket would overwrite what is returned. When no call has a rate,
 * nothing is locked. A call that was leased before its tool was changed gives nothing back: the tool may have had no rate then.
 */
export const RETURN_TOKENS = `
owed as materialized (
  select q.project_id, q.gate, count(*) * max(t.seconds) as seconds
    from ended q
   cross join lateral (
     select (x.limits #>> '{rate,per_seconds}')::float8 / (x.limits #>> '{rate,limit}')::float8 as seconds
       from resource.tools x
      where x.project_id = q.project_id and x.tool_name = q.gate and x.limits -> 'rate' is not null and x.updated_at <= q.started_at
     offset 0) t
   where q.gate is not null and q.gate <> ''
   group by q.project_id, q.gate
),
locked as materialized (
  select ${lockGates("p.project_id")} from (select distinct project_id from owed order by project_id) p
),
spent as materialized (
  select g.project_id, g.gate, g.full_at, o.seconds
    from (select count(*) as projects from locked) l
   cross join (select * from owed order by project_id, gate) o
   cross join lateral (
     select * from state.gates x
      where x.project_id = o.project_id and x.gate = o.gate and x.full_at is not null and l.projects > 0
        for update) g
),
returned as (
  update state.gates g
     set full_at = greatest(s.full_at - make_interval(secs => s.seconds), least(s.full_at, clock_timestamp()))
    from spent s
   where g.project_id = any (array[s.project_id]) and g.gate = s.gate
)`;
