// The event log: where a durable stands, moving it on, and claiming what it has taken.

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
     and (exists (select from bus.messages m where m.category = 'evt' and (m.xid, m.id) > (d.xid, d.id))
       or exists (select from bus.messages m where m.category = 'evt' and m.xid = any(d.pending)))
   for update of d skip locked),
held as (select l.* from locked l join shown s on s.rounds = l.rounds),
late as (
  select m.id, m.subject from bus.messages m
   where m.category = 'evt' and m.xid = any((select h.pending from held h)::xid8[])),
page as (
  select m.xid, m.id, m.subject from bus.messages m
   where m.category = 'evt' and (m.xid, m.id) > ((select h.xid from held h), (select h.id from held h))
   order by m.xid, m.id limit $3),
delivered as (
  insert into bus.deliveries (durable, id)
  select $1::text, r.id from (select id, subject from late union all select id, subject from page) r where r.subject ~ $2
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
    from held h, next n
   where d.durable = h.durable)
select (select count(*)::int from locked) as locked, (select count(*)::int from held) as held,
       (select count(*)::int from page) + (select count(*)::int from late) as read,
       (select count(*)::int from delivered) as delivered`,
};

// $1 durable, $2 limit, $3 claim id, $4 ack wait in ms, $5 deliveries allowed, $6 code, $7 reason
export const CLAIM_DELIVERIES = {
  name: "bus_claim_deliveries",
  text: `
with picked as (
  select id, deliveries from bus.deliveries
   where durable = $1 and available_at <= now()
   order by available_at, id limit $2 for update skip locked),
spent as (
  delete from bus.deliveries d using picked p
   where d.durable = $1 and d.id = p.id and p.deliveries >= $5::int
  returning d.id, d.deliveries),
buried as (
  insert into state.dead_letters (project_id, dead_letter_id, kind, tool_call_id, subject, headers, payload, code, reason, attempts)
  select m.project_id, $3::text || '-' || m.id, 'message', m.headers::json ->> 'CG-Tool-Call-Id', m.subject, m.headers, m.payload, $6::text, $7::text, s.deliveries
    from spent s join bus.messages m on m.id = s.id
  returning 1),
claimed as (
  update bus.deliveries d
     set claim_id = $3::text, available_at = now() + $4::float8 * interval '1 millisecond', deliveries = d.deliveries + 1
    from picked p
   where d.durable = $1 and d.id = p.id and p.deliveries < $5::int
  returning d.id, d.deliveries)
select (select count(*)::int from buried) as buried, m.id, m.subject, m.headers, m.payload, m.message_id, c.deliveries
  from (values (1)) one left join (claimed c join bus.messages m on m.id = c.id) on true
 order by m.id`,
};
