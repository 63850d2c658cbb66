// Claiming commands. One statement picks what is due, skips what others are picking, hands it out under a new claim id
// and hides it for the ack wait; what was handed out too often becomes a dead letter in the same statement.
//
// Two forms, because a plan that serves both a named target and a wildcard would serve neither: with component and
// target the index gives the oldest due rows directly; a pattern open in either reads all waiting commands of its
// components and sorts them, which only observers do.

interface ClaimText {
  /** The condition on component and target; $1 and $2. */
  readonly where: string;
}

export interface ClaimedRow {
  readonly buried: number;
  readonly id: string | null;
  /** Which event of a parcel; commands have none. */
  readonly part?: number;
  readonly subject: string;
  readonly headers: string;
  readonly payload: string;
  readonly message_id: string | null;
  readonly deliveries: number;
}

// $3 subject regex, $4 limit, $5 claim id, $6 ack wait in ms, $7 deliveries allowed, $8 code, $9 reason
const claimText = ({ where }: ClaimText): string => `
with picked as (
  select id, deliveries from bus.messages
   where category = 'cmd' and ${where} and available_at <= now() and subject ~ $3
   order by available_at, id limit $4 for update skip locked),
spent as (
  delete from bus.messages m
   where m.id = any(array(select p.id from picked p where p.deliveries >= $7::int))
  returning m.id, m.project_id, m.subject, m.headers, m.payload, m.deliveries),
buried as (
  insert into state.dead_letters (project_id, dead_letter_id, kind, tool_call_id, subject, headers, payload, code, reason, attempts)
  select project_id, 'dead_' || $5::text || '-' || id, 'message', headers::json ->> 'CG-Tool-Call-Id', subject, headers, payload, $8::text, $9::text, deliveries
    from spent
  returning 1),
claimed as (
  update bus.messages m
     set claim_id = $5::text, available_at = now() + $6::float8 * interval '1 millisecond', deliveries = m.deliveries + 1
   where m.id = any(array(select p.id from picked p where p.deliveries < $7::int))
  returning m.id, m.subject, m.headers, m.payload, m.message_id, m.deliveries)
select (select count(*)::int from buried) as buried, c.*
  from (values (1)) one left join claimed c on true
 order by c.id`;

export const CLAIM_OF_TARGET = {
  name: "bus_claim_of_target",
  text: claimText({ where: "component = $1 and target = $2" }),
};

/** $1 an array of components, $2 a target or null for any. */
export const CLAIM_WIDELY = {
  name: "bus_claim_widely",
  text: claimText({ where: "component = any($1::text[]) and ($2::text is null or target = $2)" }),
};
