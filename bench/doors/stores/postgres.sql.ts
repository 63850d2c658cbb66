// What a PostgreSQL under test is asked, over a connection to another database of it: nothing here counts for the contestant.

export const DATABASE = "bench";

export const PREPARE = [`create database ${DATABASE}`, "create extension pg_stat_statements"];

/** Known at once, unlike the counters of sessions: the statements so far, and how long the log is. */
export const READ_NOW = `
select (select coalesce(sum(calls), 0) from pg_stat_statements
         where dbid = (select oid from pg_database where datname = '${DATABASE}'))::float8 as statements,
       pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes`;
