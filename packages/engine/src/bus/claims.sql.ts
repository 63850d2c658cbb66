// Settling what was claimed, by sets. A claim is one delivery: the row's claim_id is replaced when the message is handed
// out again, so a settlement that names an older claim finds nothing and changes nothing (B10).
//
// No joins: `id = any(...)` is an index condition whatever the planner thinks of the table, where a join with the input
// would be turned around while the table is small (the whole table outside, the input inside) and stay so as it grows.
// What belongs to a row is found in the parallel arrays by its position; ids in one statement are distinct.
//
// Messages: $1 ids, $2 claims. Deliveries of one durable: $1 ids, $2 claims, $3 durable, $4 `id.part`: one message may have
// several, and ids are distinct only with the part. Further columns follow.

import { eventParts, headersOfPart, payloadOfPart } from "./parcel.sql.ts";

const MESSAGE = "m.id = any($1::bigint[]) and m.claim_id = ($2::text[])[array_position($1::bigint[], m.id)]";
const nth = (delivery: string): string => `array_position($4::text[], ${delivery}.id || '.' || ${delivery}.part)`;
const DELIVERY = `d.durable = $3 and d.id = any($1::bigint[]) and d.claim_id = ($2::text[])[${nth("d")}]`;

const partSuffix = (row: string): string => `case when ${row}.part = 0 then '' else '-' || ${row}.part end`;

const DEAD_LETTER = `
  insert into state.dead_letters (project_id, dead_letter_id, kind, tool_call_id, subject, headers, payload, code, reason, attempts)`;

export const ACK_MESSAGES = {
  name: "bus_ack_messages",
  text: `delete from bus.messages m where ${MESSAGE}`,
};

export const ACK_DELIVERIES = {
  name: "bus_ack_deliveries",
  text: `delete from bus.deliveries d where ${DELIVERY}`,
};

/** $3 delays in ms, $4 how many deliveries not to count: 1 when it is handed back before anybody worked on it. */
export const DELAY_MESSAGES = {
  name: "bus_delay_messages",
  text: `
update bus.messages m
   set available_at = now() + ($3::float8[])[array_position($1::bigint[], m.id)] * interval '1 millisecond',
       deliveries = m.deliveries - ($4::int[])[array_position($1::bigint[], m.id)],
       claim_id = null
 where ${MESSAGE}`,
};

/** $5 delays in ms, $6 how many deliveries not to count. */
export const DELAY_DELIVERIES = {
  name: "bus_delay_deliveries",
  text: `
update bus.deliveries d
   set available_at = now() + ($5::float8[])[${nth("d")}] * interval '1 millisecond',
       deliveries = d.deliveries - ($6::int[])[${nth("d")}],
       claim_id = null
 where ${DELIVERY}`,
};

/** $3 ack waits in ms. */
export const EXTEND_MESSAGES = {
  name: "bus_extend_messages",
  text: `
update bus.messages m
   set available_at = now() + ($3::float8[])[array_position($1::bigint[], m.id)] * interval '1 millisecond'
 where ${MESSAGE}`,
};

/** $5 ack waits in ms. */
export const EXTEND_DELIVERIES = {
  name: "bus_extend_deliveries",
  text: `
update bus.deliveries d
   set available_at = now() + ($5::float8[])[${nth("d")}] * interval '1 millisecond'
 where ${DELIVERY}`,
};

/** $3 codes, $4 reasons. A letter's id goes on with the claim's time-ordered id, like a call's: letters of all kinds sort by when they died. */
export const BURY_MESSAGES = {
  name: "bus_bury_messages",
  text: `
with gone as (
  delete from bus.messages m where ${MESSAGE}
  returning m.id, m.project_id, m.subject, m.headers, m.payload, m.events, m.deliveries, m.claim_id)
${DEAD_LETTER}
select g.project_id, 'dead_' || g.claim_id || '-' || g.id || ${partSuffix("e")}, 'message', g.headers::json ->> 'CG-Tool-Call-Id', g.subject,
       e.headers, e.payload, ($3::text[])[array_position($1::bigint[], g.id)], ($4::text[])[array_position($1::bigint[], g.id)], g.deliveries
  from gone g
 cross join lateral (${eventParts("g")}) e`,
};

/** $5 codes, $6 reasons. */
export const BURY_DELIVERIES = {
  name: "bus_bury_deliveries",
  text: `
with gone as (delete from bus.deliveries d where ${DELIVERY} returning d.id, d.part, d.deliveries, d.claim_id)
${DEAD_LETTER}
select m.project_id, 'dead_' || g.claim_id || '-' || g.id || ${partSuffix("g")}, 'message', m.headers::json ->> 'CG-Tool-Call-Id', m.subject,
       ${headersOfPart("m", "g.part")}, ${payloadOfPart("m", "g.part")},
       ($5::text[])[${nth("g")}], ($6::text[])[${nth("g")}], g.deliveries
  from gone g
 cross join lateral (
   select project_id, subject, headers, payload from bus.messages where id = g.id offset 0) m`,
};
