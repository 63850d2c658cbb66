// Buffers touched so far, by table and its indexes: from memory or from disk alike.

export const READ_BLOCKS = `
select t.schemaname || '.' || t.relname as name, false as is_index,
       (t.heap_blks_hit + t.heap_blks_read + coalesce(t.toast_blks_hit + t.toast_blks_read + t.tidx_blks_hit + t.tidx_blks_read, 0))::float8 as blocks
  from pg_statio_user_tables t
union all
select i.schemaname || '.' || i.indexrelname, true, (i.idx_blks_hit + i.idx_blks_read)::float8 from pg_statio_user_indexes i`;

export const SIZES = `
select c.relname as name, c.reltuples::float8 as rows, pg_relation_size(c.oid)::float8 as bytes
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where n.nspname in ('state', 'cards', 'bus') and c.relkind in ('r', 'i') and pg_relation_size(c.oid) > 1000000
 order by 3 desc`;

export const CREATE_DATABASE = (name: string): string => `create database ${name}`;

export const explainAnalyze = (text: string): string => `explain (analyze, buffers, format json) ${text}`;
