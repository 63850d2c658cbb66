// Lossy streams between processes: an UNLOGGED table, whose writes are never waited for.

import { given, inputOf } from "../sql/columns.sql.ts";

export const streamInput = inputOf({
  subject: given<string>("text"),
  payload: given<string>("text"),
});

export const INSERT_STREAM_ITEMS = {
  name: "bus_insert_stream_items",
  text: `
insert into bus.stream_items (origin, subject, payload)
select $${streamInput.next}, subject, payload from ${streamInput.from} order by ord`,
};

export const STREAM_NOW = {
  name: "bus_stream_now",
  text: "select pg_current_snapshot()::text as snapshot",
};

export interface StreamRow {
  readonly snapshot: string;
  readonly id: string | null;
  readonly subject: string;
  readonly payload: string;
}

/** What others wrote since a snapshot ($1), the newest $3 of it; and the snapshot to go on from. $2: own origin. */
export const READ_STREAM_ITEMS = {
  name: "bus_read_stream_items",
  text: `
with fresh as (
  select id, origin, subject, payload from bus.stream_items
   where xid = any(array(select pg_snapshot_xip($1::pg_snapshot)))
  union all
  select id, origin, subject, payload from bus.stream_items
   where xid >= pg_snapshot_xmax($1::pg_snapshot)),
newest as (select id, subject, payload from fresh where origin <> $2 order by id desc limit $3)
select pg_current_snapshot()::text as snapshot, n.id, n.subject, n.payload
  from (values (1)) one left join newest n on true
 order by n.id`,
};

export const TRIM_STREAM_ITEMS = {
  name: "bus_trim_stream_items",
  text: `
delete from bus.stream_items where (xid, id) <= (
  select xid, id from (
    select xid, id, created_at from bus.stream_items order by xid, id limit $2) first
   where created_at < now() - $1::float8 * interval '1 millisecond'
   order by xid desc, id desc limit 1)`,
};
