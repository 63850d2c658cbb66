// What the server spent on each statement, by its own account.

export const START_STATEMENTS = [
  "create extension if not exists pg_stat_statements",
  "select pg_stat_statements_reset()",
];

/** $1 how many. */
export const READ_STATEMENTS = `
select calls::float8 as calls, rows::float8 as rows, (total_exec_time + total_plan_time)::float8 as total_ms,
       (shared_blks_hit + shared_blks_read)::float8 as blocks, wal_bytes::float8 as wal_bytes, query as statement
  from pg_stat_statements
 where dbid = (select oid from pg_database where datname = current_database())
 order by total_exec_time + total_plan_time desc
 limit $1`;
