// What the server has counted, as one row. WAL syncs moved from pg_stat_wal to pg_stat_io with PostgreSQL 18.

const SYNCS_18 = "(select coalesce(sum(fsyncs), 0) from pg_stat_io where object = 'wal')";
const SYNCS_15 = "(select wal_sync from pg_stat_wal)";

const counters = (syncs: string, database: string): string => `
select (select xact_commit from pg_stat_database where datname = ${database})::float8 as commits,
       ${syncs}::float8 as wal_syncs,
       wal_bytes::float8 as wal_bytes, wal_records::float8 as wal_records, wal_fpi::float8 as wal_images
  from pg_stat_wal`;

/** Commits are those of the connection's own database, unless another expression for its name is given. */
export const READ_COUNTERS = (serverVersion: number, database = "current_database()"): string =>
  counters(serverVersion >= 180_000 ? SYNCS_18 : SYNCS_15, database);

export const READ_TABLES = `
select schemaname || '.' || relname as table_name, n_tup_ins::float8 as inserted, n_tup_upd::float8 as updated,
       n_tup_hot_upd::float8 as hot_updated, n_tup_del::float8 as deleted
  from pg_stat_user_tables`;

export const READ_SERVER = `
select current_setting('server_version') as version, current_setting('server_version_num')::int as version_number,
       current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous_commit,
       current_setting('wal_sync_method') as wal_sync_method, current_setting('full_page_writes') as full_page_writes,
       current_setting('shared_buffers') as shared_buffers`;

/** Counts reach the shared statistics at the end of this statement instead of up to a second later. */
export const FLUSH_COUNTS = {
  name: "bench.flush-counts",
  text: "select pg_stat_force_next_flush(), pg_sleep(0.02)",
};
