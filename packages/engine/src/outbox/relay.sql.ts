// The outbox as seen by a relay to an external bus: every row is one that has not left yet.

export interface RelayRow {
  readonly id: string;
  readonly subject: string;
  readonly headers: string;
  readonly payload: string;
  readonly message_id: string | null;
  readonly deliveries: number;
  /** Microseconds since 1970, as text. */
  readonly written_at: string;
}

/** By primary key: the table is as short as the relay is quick. $1 limit, $2 claim id, $3 claim time in ms. */
export const CLAIM_OUTBOX = {
  name: "outbox_claim",
  text: `
with picked as (
  select id from bus.messages where available_at <= now() order by id limit $1 for update skip locked),
claimed as (
  update bus.messages m
     set claim_id = $2::text, available_at = now() + $3::float8 * interval '1 millisecond', deliveries = m.deliveries + 1
   where m.id = any(array(select p.id from picked p))
  returning m.id, m.subject, m.headers, m.payload, m.message_id, m.deliveries,
            (extract(epoch from m.created_at) * 1000000)::bigint::text as written_at)
select * from claimed order by id`,
};

/** In how many ms the next one is due; null when there is none. Asked after a look, so one may be due already. $1 limit. */
export const NEXT_DUE = {
  name: "outbox_next_due",
  text: `
select (extract(epoch from min(available_at) - now()) * 1000)::float8 as due_ms
  from (select available_at from bus.messages order by id limit $1) waiting`,
};

export interface StuckRow {
  readonly category: "cmd" | "evt";
  readonly project_id: string;
  readonly component: string;
  readonly target: string;
  readonly messages: number;
  readonly oldest_ms: number;
}

const grouped = (rows: string): string => `
select category, project_id, component, target, count(*)::int as messages,
       (extract(epoch from now() - min(available_at)) * 1000)::float8 as oldest_ms
  from (${rows}) waiting
 group by category, project_id, component, target
 order by oldest_ms desc`;

// $1 age in ms, $2 how many rows are looked at
export const STUCK_COMMANDS = {
  name: "outbox_stuck_commands",
  text: grouped(`
    select category, project_id, component, target, available_at from bus.messages
     where category = 'cmd' and available_at < now() - $1::float8 * interval '1 millisecond'
     order by component, target, available_at, id limit $2`),
};

export const STUCK_MESSAGES = {
  name: "outbox_stuck_messages",
  text: grouped(`
    select category, project_id, component, target, available_at from bus.messages
     where available_at < now() - $1::float8 * interval '1 millisecond' order by id limit $2`),
};
