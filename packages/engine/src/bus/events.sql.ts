// The event log: where a durable stands, moving it on, and claiming what it has taken.
// Rows are found by `= any(array(...))` or by a lateral subquery with `offset 0`: both keep the planner from turning a
// join around while a table is small, which would read the whole table once it is not.

import { headersOfPart, payloadOfPart } from "./parcel.sql.ts";

/**
 * Makes the durable when it is new and says which pattern it belongs to. $3: start at the oldest event; otherwise at the
 * present moment, which is this statement's snapshot: the next transaction to come, and those that are still open.
 */
export const ENSURE_DURABLE = {
  name: "bus_ensure_durable",
  text: `
insert into bus.durables as d (durable, pattern, xid, id, pending)
select $1, $2,
       case when $3::boolean then '0'::xid8 else pg_snapshot_xmax(pg_current_snapshot()) end, 0,
       case when $3::boolean then '{}'::xid8[] else array(select pg_snapshot_xip(pg_current_snapshot())) end
on conflict (durable) do update set seen_at = now()
returning d.pattern`,
};

export const DROP_DURABLE = {
  name: "bus_drop_durable",
  text: `
with gone as (delete from bus.durables where durable = $1),
taken as (delete from bus.deliveries where durable = $1 returning 1)
select count(*)::int as deliveries from taken`,
};

export interface FanOutRow {
  /** Whether the position was locked by this statement. */
  readonly locked: number;
  /** Whether it was also as this statement's snapshot shows it. */
  readonly held: number;
  readonly read: number;
  readonly delivered: number;
}

/**
 * Reads the log from the durable's position and hands what matches to it; position and deliveries move together.
 *
 * `page` is what lies after the position, `late` what the transactions wrote that were open when it was passed. Both are
 * visible by this statement's snapshot; whatever that snapshot does not show belongs to a transaction in its list of
 * open ones, which becomes the new `pending`, or to one after it. Reading only below the oldest open transaction would
 * be shorter, but then one forgotten transaction anywhere on the server would stop every event.
 *
 * Nothing is locked (and so nothing written) unless there is something to read. $2 subject regex, $3 rows at once.
 */
export const FAN_OUT = {
  name: "bus_fan_out",
  text: `
with shown as (select rounds from bus.durables where durable = $1),
locked as (
  select d.durable, d.xid, d.id, d.pending, d.rounds from bus.durables d
   where d.durable = $1
     and (exists (select from bus.messages m where m.category = 'evt' and (m.xid, m.id) > (d.xid, d.id)
                   order by m.xid, m.id limit 1)
       or exists (select from unnest(d.pending) p (xid) cross join lateral (
                    select from bus.messages m where m.category = 'evt' and m.xid = p.xid limit 1) written))
   for update of d skip locked),
held as (select l.* from locked l join shown s on s.rounds = l.rounds),
late as (
  select m.id, m.subject, m.events from held h cross join lateral unnest(h.pending) p (xid) cross join lateral (
    select id, subject, events from bus.messages where category = 'evt' and xid = p.xid offset 0) m),
page as (
  select m.xid, m.id, m.subject, m.events from bus.messages m
   where m.category = 'evt' and (m.xid, m.id) > ((select h.xid from held h), (select h.id from held h))
   order by m.xid, m.id limit $3),
delivered as (
  insert into bus.deliveries (durable, id, part)
  select $1::text, r.id, part
    from (select id, subject, events from late union all select id, subject, events from page) r
   cross join lateral generate_series(least(r.events, 1), r.events) part
   where r.subject ~ $2
  on conflict do nothing returning 1),
next as (
  select p.xid, p.id from (select xid, id from page order by xid desc, id desc limit 1) p
   where (select count(*) from page) >= $3
  union all
  select pg_snapshot_xmax(pg_current_snapshot()), 0 where (select count(*) from page) < $3),
moved as (
  update bus.durables d
     set xid = n.xid, id = n.id, rounds = d.rounds + 1, seen_at = now(),
         pending = array(select x from pg_snapshot_xip(pg_current_snapshot()) x where x < n.xid)
    from next n
   where d.durable = $1 and exists (select from held))
select (select count(*)::int from locked) as locked, (select count(*)::int from held) as held,
       (select count(*)::int from page) + (select count(*)::int from late) as read,
       (select count(*)::int from delivered) as delivered`,
};

// $1 durable, $2 limit, $3 claim id, $4 ack wait in ms, $5 deliveries allowed, $6 code, $7 reason
export const CLAIM_DELIVERIES = {
  name: "bus_claim_deliveries",
  text: `
with picked as materialized (
  select ctid as place, deliveries from bus.deliveries
   where durable = $1 and available_at <= now()
   order by available_at, id, part limit $2 for update skip locked),
spent as (
  delete from bus.deliveries d
   where d.ctid = any(array(select p.place from picked p where p.deliveries >= $5::int))
  returning d.id, d.part, d.deliveries),
buried as (
  insert into state.dead_letters (project_id, dead_letter_id, kind, tool_call_id, subject, headers, payload, code, reason, attempts)
  select m.project_id, 'dead_' || $3::text || '-' || m.id || case when s.part = 0 then '' else '-' || s.part end, 'message',
         m.headers::json ->> 'CG-Tool-Call-Id', m.subject, ${headersOfPart("m", "s.part")}, ${payloadOfPart("m", "s.part")},
         $6::text, $7::text, s.deliveries
    from spent s cross join lateral (
      select id, project_id, subject, headers, payload from bus.messages where id = s.id offset 0) m
  returning 1),
claimed as (
  update bus.deliveries d
     set claim_id = $3::text, available_at = now() + $4::float8 * interval '1 millisecond', deliveries = d.deliveries + 1
   where d.ctid = any(array(select p.place from picked p where p.deliveries < $5::int))
  returning d.id, d.part, d.deliveries)
select (select count(*)::int from buried) as buried, m.id, c.part, m.subject, ${headersOfPart("m", "c.part")} as headers,
       ${payloadOfPart("m", "c.part")} as payload,
       case when c.part = 0 or m.message_id is null then m.message_id else m.message_id || '-' || c.part end as message_id, c.deliveries
  from (values (1)) one left join (
    claimed c cross join lateral (
      select id, subject, headers, payload, message_id from bus.messages where id = c.id offset 0) m) on true
 order by m.id, c.part`,
};
