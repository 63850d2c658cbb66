// The event log as readers without a durable see it: a page after a position, in an order that never changes.

import type { Statement } from "../sql/database.ts";

const page = (table: string, isEvent: string): string => `
  (select xid, id, subject, headers, payload
     from ${table}
    where ${isEvent}project_id = $1 and (xid, id) > ($2::text::xid8, $3::bigint)
      and xid < pg_snapshot_xmin(pg_current_snapshot())
    order by xid, id
    limit $4)`;

/**
 * $1 project, $2 xid and $3 id of the last event seen, $4 limit. Only below the oldest open transaction: a reader that
 * keeps nothing but a position must never be passed by a late commit. An event that has left for another bus keeps its
 * place, and moves in one statement: it is in exactly one of the two tables.
 */
export const READ_EVENTS: Statement = {
  name: "bus.read-events",
  text: `
select xid::text as xid, id::text as id, subject, headers, payload
  from (${page("bus.messages", "category = 'evt' and ")}
  union all${page("bus.sent_events", "")}) events
 order by events.xid, events.id
 limit $4`,
};

export const NOW_POSITION: Statement = {
  name: "bus.now-position",
  text: "select pg_snapshot_xmin(pg_current_snapshot())::text as xid",
};
