// The event log as readers without a durable see it: a page after a position, in an order that never changes.

import type { Statement } from "../sql/database.ts";

/**
 * $1 project, $2 xid and $3 id of the last event seen, $4 limit. Only below the oldest open transaction: a reader that
 * keeps nothing but a position must never be passed by a late commit.
 */
export const READ_EVENTS: Statement = {
  name: "bus.read-events",
  text: `
select xid::text as xid, id::text as id, subject, headers, payload
  from bus.messages
 where category = 'evt' and project_id = $1 and (xid, id) > ($2::text::xid8, $3::bigint)
   and xid < pg_snapshot_xmin(pg_current_snapshot())
 order by xid, id
 limit $4`,
};

export const NOW_POSITION: Statement = {
  name: "bus.now-position",
  text: "select pg_snapshot_xmin(pg_current_snapshot())::text as xid",
};
