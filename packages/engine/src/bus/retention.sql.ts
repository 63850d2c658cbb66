// Deletes old messages in small steps: each statement locks only what it deletes.

/**
 * $1 age in ms, $2 how many. The order of the log is nearly the order of age: a row that is not among the first is not old
 * enough, or will be deleted the next time.
 */
export const TRIM_EVENTS = {
  name: "bus_trim_events",
  text: `
with first as (
  select id, created_at from bus.messages where category = 'evt' order by xid, id limit $2),
gone as (
  delete from bus.messages m
   where m.id = any(array(
     select f.id from first f where f.created_at < now() - $1::float8 * interval '1 millisecond'))
  returning 1)
select count(*)::int as trimmed from gone`,
};

/** $1 age in ms, $2 how many. Commands that had not left when the plane was started without a bus beside its database. */
export const TRIM_COMMANDS = {
  name: "bus_trim_commands",
  text: `
with old as (
  select id from bus.messages
   where category = 'cmd' and available_at <= now() and created_at < now() - $1::float8 * interval '1 millisecond'
   order by component, target, available_at, id limit $2 for update skip locked),
gone as (delete from bus.messages m where m.id = any(array(select o.id from old o)) returning 1)
select count(*)::int as trimmed from gone`,
};

/** $1 age in ms, $2 how many. */
export const TRIM_SENT_EVENTS = {
  name: "bus_trim_sent_events",
  text: `
with first as (
  select xid, id, created_at from bus.sent_events order by xid, id limit $2),
gone as (
  delete from bus.sent_events e
   where (e.xid, e.id) in (
     select f.xid, f.id from first f where f.created_at < now() - $1::float8 * interval '1 millisecond')
  returning 1)
select count(*)::int as trimmed from gone`,
};
