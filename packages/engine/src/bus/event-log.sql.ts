// The event log as readers without a durable see it: a page after a position, in an order that never changes. A page is
// bounded in bytes too: a reader that does not read holds no more than one.

import type { Statement } from "../sql/database.ts";

/** The event that exceeds it is still part of the page, so an event larger than the limit is read too. */
const MAX_PAGE_BYTES = 1024 * 1024;

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
  from (
    select events.*, sum(octet_length(payload)) over (order by xid, id) - octet_length(payload) as before
      from (${page("bus.messages", "category = 'evt' and ")}
      union all${page("bus.sent_events", "")}) events) paged
 where before < ${MAX_PAGE_BYTES}
 order by paged.xid, paged.id
 limit $4`,
};

export const NOW_POSITION: Statement = {
  name: "bus.now-position",
  text: "select pg_snapshot_xmin(pg_current_snapshot())::text as xid",
};
