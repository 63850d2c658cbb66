// The outbox as seen by a relay to an external bus: every row is one that has not left yet.

import { eventParts } from "../bus/parcel.sql.ts";

/** A message; of a parcel, one for each of its events. */
export interface RelayRow {
  readonly id: string;
  readonly part: number;
  readonly subject: string;
  readonly headers: string;
  readonly payload: string;
  readonly message_id: string | null;
  readonly deliveries: number;
  /** Microseconds since 1970, as text. */
  readonly written_at: string;
}

// A claim or a deletion that is lost when the database's machine fails means that messages are published once more, under their
// ids (RO1). So neither waits for the disk.
const DURABILITY = "durability as materialized (select set_config('synchronous_commit', 'off', true))";

/** The last row of an answer, with what was learned beside the messages. */
export interface RelayNews {
  readonly id: null;
  /** In how many ms the next message is due; null when there is none, or when the batch is full. */
  readonly due_ms: number | null;
  /** Receivers of commands whose calls are no longer queued: [component, project, target] of each. */
  readonly answered: readonly (readonly [string, string, string])[];
}

// A claim that lapsed meanwhile has another id: what its new holder publishes is the new holder's to take away.
// A call that was claimed before its command had left is seen here, one that is claimed later sees its command on the bus.
/**
 * What the batch before published is taken away: commands are gone, events move to those that have left. And the next batch is
 * claimed, in the order in which messages became due, so that delayed rows are not read. $1 limit, $2 claim id, $3 claim time in ms,
 * $4 ids of what was published, $5 the id of its claim.
 */
export const CARRY_OUTBOX = {
  name: "outbox_carry",
  text: `
with ${DURABILITY},
gone as (
  delete from bus.messages m using durability where m.id = any($4::bigint[]) and m.claim_id = $5::text
  returning m.xid, m.id, m.category, m.project_id, m.component, m.target, m.subject, m.headers, m.payload, m.events, m.created_at),
sent as (
  insert into bus.sent_events (xid, id, project_id, subject, headers, payload, events, created_at)
  select xid, id, project_id, subject, headers, payload, events, created_at from gone where category = 'evt'),
answered as (
  select distinct g.component, g.project_id, g.target
    from (select component, target, project_id, headers::json ->> 'CG-Tool-Call-Id' as tool_call_id
            from gone where category = 'cmd' and component in ('tool', 'sys')) g
   cross join lateral (
     select from state.calls c
      where c.project_id = g.project_id and c.tool_call_id = g.tool_call_id and c.status <> 'queued'
     offset 0) over
   where not exists (select from state.live_calls q
                      where q.project_id = g.project_id and q.tool_call_id = g.tool_call_id and q.status = 'queued' offset 0)),
picked as materialized (
  select id from bus.messages where available_at <= now() and claim_id is distinct from $5::text
   order by available_at, id limit $1 for update skip locked),
claimed as (
  update bus.messages m
     set claim_id = $2::text, available_at = now() + $3::float8 * interval '1 millisecond', deliveries = m.deliveries + 1
    from durability
   where m.id = any(array(select p.id from picked p))
  returning m.id, m.subject, m.headers, m.payload, m.events, m.message_id, m.deliveries,
            (extract(epoch from m.created_at) * 1000000)::bigint::text as written_at)
select c.id, e.part, e.subject, e.headers, e.payload, coalesce(e.message_id, c.message_id) as message_id, c.deliveries, c.written_at,
       null::float8 as due_ms, null::json as answered
  from claimed c
 cross join lateral (${eventParts("c")}) e
union all
select null, 0, '', '', '', null, 0, '',
       case when (select count(*) from picked) < $1 then (
         select (extract(epoch from m.available_at - now()) * 1000)::float8
           from bus.messages m
          where m.available_at < 'infinity' and m.claim_id is distinct from $5::text and m.id not in (select id from picked)
          order by m.available_at, m.id limit 1) end,
       (select coalesce(json_agg(json_build_array(a.component, a.project_id, a.target)), '[]') from answered a)
 order by 1, 2`,
};

// A claim that lapsed has another id by now, and then none of these does anything. $1 ids, $2 claim id.
const MINE = "m.id = any($1::bigint[]) and m.claim_id = $2::text";

/** What belongs to a row, in the order of $1. */
const own = (values: string): string => `(${values})[array_position($1::bigint[], m.id)]`;

/** $3 for how many ms from now. */
export const EXTEND_CLAIM = {
  name: "outbox_extend_claim",
  text: `update bus.messages m set available_at = now() + $3::float8 * interval '1 millisecond' where ${MINE}`,
};

/** $3 in how many ms each is due again. */
export const PUT_OFF = {
  name: "outbox_put_off",
  text: `
update bus.messages m
   set available_at = now() + ${own("$3::float8[]")} * interval '1 millisecond', claim_id = null
 where ${MINE}`,
};

/** $3 codes. A letter's id goes on with the claim's time-ordered id, like a call's: letters of all kinds sort by when they died. */
export const BURY_REFUSED = {
  name: "outbox_bury_refused",
  text: `
with gone as (
  delete from bus.messages m where ${MINE}
  returning m.id, m.project_id, m.subject, m.headers, m.payload, m.events, m.deliveries, ${own("$3::text[]")} as code)
insert into state.dead_letters (project_id, dead_letter_id, kind, tool_call_id, subject, headers, payload, code, reason, attempts)
select g.project_id, 'dead_' || $2::text || '-' || g.id || case when e.part = 0 then '' else '-' || e.part end, 'message',
       g.headers::json ->> 'CG-Tool-Call-Id', e.subject, e.headers, e.payload, g.code, 'the bus refuses this message', g.deliveries
  from gone g
 cross join lateral (${eventParts("g")}) e`,
};

export interface StuckRow {
  readonly category: "cmd" | "evt";
  readonly project_id: string;
  readonly component: string;
  readonly target: string;
  readonly messages: number;
  readonly oldest_ms: number;
}

/** $1 age in ms, $2 how many rows are looked at. */
export const STUCK_MESSAGES = {
  name: "outbox_stuck_messages",
  text: `
select category, project_id, component, target, count(*)::int as messages,
       (extract(epoch from now() - min(available_at)) * 1000)::float8 as oldest_ms
  from (
    select category, project_id, component, target, available_at from bus.messages
     where available_at < now() - $1::float8 * interval '1 millisecond' order by available_at, id limit $2) waiting
 group by category, project_id, component, target
 order by oldest_ms desc`,
};
