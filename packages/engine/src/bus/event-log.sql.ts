// The event log as readers without a durable see it: a page after a position, in the order of ids. A page is bounded in bytes
// too: a reader that does not read holds no more than one.
//
// Ids follow the order of events: an event that a transaction writes about a call after another transaction committed has the
// larger id, whichever of the two began first. A page shows what this statement's snapshot shows. An event that is missing from it
// belongs to a transaction that the snapshot lists as open, or gets a later id.

import type { Statement } from "../sql/database.ts";
import { eventParts } from "./parcel.sql.ts";

/** The event that exceeds it is still part of the page, so an event larger than the limit is read too. */
const MAX_PAGE_BYTES = 1024 * 1024;

/** The words of the index of a project's events. */
const IS_EVENT = "category = 'evt' and id > 0 and ";

const COLUMNS = "id, subject, headers, payload, events";

// The parcel at the place itself may have events left.
const page = (table: string, isEvent: string): string => `
  (select ${COLUMNS}, $2::bigint as after_id, $3::int as after_part
     from ${table}
    where ${isEvent}project_id = $1 and id >= $2::bigint and (id > $2::bigint or events > $3::int)
    order by project_id, id
    limit $4)`;

// The largest number stands for all that are still to come.
const late = (table: string, isEvent: string): string => `
  (select m.*, l.after_id, l.after_part
     from unnest($5::text[], $6::text[], $7::bigint[], $8::int[]) l (first, last, after_id, after_part)
    cross join lateral (
      select ${COLUMNS} from ${table}
       where ${isEvent}project_id = $1 and xid >= l.first::xid8 and xid <= l.last::xid8 and id <= $2::bigint and id >= l.after_id
         and (id > l.after_id or events > l.after_part)
       order by id
       limit $4) m
    where $2::bigint > 0)`;

/** What this statement's snapshot does not show: the transactions it lists, and all from a number on. */
const OPEN = `array(select x::text from pg_snapshot_xip(pg_current_snapshot()) x) as listed,
       pg_snapshot_xmax(pg_current_snapshot())::text as unlisted`;

/**
 * $1 project, $2 id and $3 part of the place, $4 limit of messages, $5 and $6 ranges of transactions that were open there, $7
 * and $8 how far what they wrote is read. An event that has left for another bus keeps its id, and moves in one statement: it is in exactly one of
 * the two tables. Every row says which transactions are open; an empty page is one row that says only that.
 */
export const READ_EVENTS: Statement = {
  name: "bus.read-events",
  text: `
with found as (${page("bus.messages", IS_EVENT)}
      union all${page("bus.sent_events", "")}
      union all${late("bus.messages", "category = 'evt' and ")}
      union all${late("bus.sent_events", "")}),
paged as (
  select * from (
    select found.*, sum(octet_length(payload)) over (order by id) - octet_length(payload) as before
      from found order by id limit $4) bounded
   where before < ${MAX_PAGE_BYTES})
select r.id::text as id, r.part, r.subject, r.headers, r.payload,
       ${OPEN}
  from (values (1)) one
  left join (
    select m.id, e.subject, e.part, e.headers, e.payload
      from paged m
     cross join lateral (${eventParts("m")}) e
     where (m.id, e.part) > (m.after_id, m.after_part)) r on true
 order by r.id, r.part`,
};

/** The last event of a project, and which transactions are open. $1 project. */
export const NOW_POSITION: Statement = {
  name: "bus.now-position",
  text: `
select coalesce(l.id, 0)::text as id, coalesce(l.events, 0) as part,
       ${OPEN}
  from (values (1)) one
  left join (
    select * from (
      (select id, events from bus.messages where ${IS_EVENT}project_id = $1 order by project_id desc, id desc limit 1)
      union all
      (select id, events from bus.sent_events where project_id = $1 order by project_id desc, id desc limit 1)) ends
     order by id desc limit 1) l on true`,
};

/**
 * Where a reader of an earlier version stands: those read the log in the order of transactions. $1 project, $2 transaction and $3
 * message. What lies behind in that order and before in this one is named as late. Reads the whole log of the project, once.
 */
export const OLD_POSITION: Statement = {
  name: "bus.old-position",
  text: `
with events as materialized (
  select xid, id from bus.messages where ${IS_EVENT}project_id = $1
  union all
  select xid, id from bus.sent_events where project_id = $1),
place as materialized (select coalesce(max(id), 0) as id from events where (xid, id) <= ($2::text::xid8, $3::bigint)),
unread as (
  select distinct xid::text as xid from events
   where (xid, id) > ($2::text::xid8, $3::bigint) and id <= (select id from place))
select (select id::text from place) as id, array(select xid from unread) as unread,
       ${OPEN}`,
};

/** $1 project, $2 message. */
export const HAS_EVENT: Statement = {
  name: "bus.has-event",
  text: `
select 1 from bus.messages where ${IS_EVENT}project_id = $1 and id = $2::bigint
union all
select 1 from bus.sent_events where project_id = $1 and id = $2::bigint`,
};
