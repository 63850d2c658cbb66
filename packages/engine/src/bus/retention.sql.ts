// Letting go of old messages, in small bites: each statement locks only what it deletes, and skips what others hold.

/** $1 age in ms, $2 how many. Deliveries of the deleted events go with them. */
export const TRIM_EVENTS = {
  name: "bus_trim_events",
  text: `
with old as (
  select id from bus.messages
   where category = 'evt' and created_at < now() - $1::float8 * interval '1 millisecond'
   order by created_at limit $2 for update skip locked),
gone as (delete from bus.messages m using old o where m.id = o.id returning m.id),
untaken as (delete from bus.deliveries d using gone g where d.id = g.id)
select count(*)::int as trimmed from gone`,
};

/** $1 age in ms, $2 how many. A command that somebody holds, or that waits out a nak, is left alone. */
export const TRIM_COMMANDS = {
  name: "bus_trim_commands",
  text: `
with old as (
  select id from bus.messages
   where category = 'cmd' and available_at <= now() and created_at < now() - $1::float8 * interval '1 millisecond'
   limit $2 for update skip locked),
gone as (delete from bus.messages m using old o where m.id = o.id returning 1)
select count(*)::int as trimmed from gone`,
};
