// Settling what was claimed, by sets. A claim is one delivery: the row's claim_id is replaced when the message is handed
// out again, so a settlement that names an older claim finds nothing and changes nothing (B10).
// Rows are touched in the order of the arrays, which the caller sorts: two processes cannot lock crosswise.

import { setInput } from "../sql/input.sql.ts";

export interface ClaimInput {
  readonly durable: string;
  readonly id: string;
  readonly claimId: string;
}

export interface DelayInput extends ClaimInput {
  readonly delayMs: number;
  /** 1 when the delivery shall not count: it was handed back before anybody worked on it. */
  readonly uncount: number;
}

export interface BurialInput extends ClaimInput {
  readonly code: string;
  readonly reason: string;
}

const claimFields = [
  ["durable", "text"],
  ["id", "bigint"],
  ["claimId", "text"],
] as const;

export const claimInput = setInput<ClaimInput>(claimFields);
export const delayInput = setInput<DelayInput>([
  ...claimFields,
  ["delayMs", "double precision"],
  ["uncount", "integer"],
]);
export const burialInput = setInput<BurialInput>([...claimFields, ["code", "text"], ["reason", "text"]]);

export const ACK_MESSAGES = {
  name: "bus_ack_messages",
  text: `
with gone as (
  delete from bus.messages m using ${claimInput.from}
   where m.id = i.id and m.claim_id = i.claim_id returning 1)
select count(*)::int as changed from gone`,
};

export const ACK_DELIVERIES = {
  name: "bus_ack_deliveries",
  text: `
with gone as (
  delete from bus.deliveries d using ${claimInput.from}
   where d.durable = i.durable and d.id = i.id and d.claim_id = i.claim_id returning 1)
select count(*)::int as changed from gone`,
};

export const DELAY_MESSAGES = {
  name: "bus_delay_messages",
  text: `
with moved as (
  update bus.messages m
     set available_at = now() + i.delay_ms * interval '1 millisecond', deliveries = m.deliveries - i.uncount, claim_id = null
    from ${delayInput.from}
   where m.id = i.id and m.claim_id = i.claim_id returning 1)
select count(*)::int as changed from moved`,
};

export const DELAY_DELIVERIES = {
  name: "bus_delay_deliveries",
  text: `
with moved as (
  update bus.deliveries d
     set available_at = now() + i.delay_ms * interval '1 millisecond', deliveries = d.deliveries - i.uncount, claim_id = null
    from ${delayInput.from}
   where d.durable = i.durable and d.id = i.id and d.claim_id = i.claim_id returning 1)
select count(*)::int as changed from moved`,
};

export const EXTEND_MESSAGES = {
  name: "bus_extend_messages",
  text: `
with moved as (
  update bus.messages m set available_at = now() + i.delay_ms * interval '1 millisecond'
    from ${delayInput.from}
   where m.id = i.id and m.claim_id = i.claim_id returning 1)
select count(*)::int as changed from moved`,
};

export const EXTEND_DELIVERIES = {
  name: "bus_extend_deliveries",
  text: `
with moved as (
  update bus.deliveries d set available_at = now() + i.delay_ms * interval '1 millisecond'
    from ${delayInput.from}
   where d.durable = i.durable and d.id = i.id and d.claim_id = i.claim_id returning 1)
select count(*)::int as changed from moved`,
};

/** A dead letter's id begins with the claim's time-ordered id, so letters sort by when they died. */
export const BURY_MESSAGES = {
  name: "bus_bury_messages",
  text: `
with gone as (
  delete from bus.messages m using ${burialInput.from}
   where m.id = i.id and m.claim_id = i.claim_id
  returning m.id, m.project_id, m.subject, m.headers, m.payload, m.deliveries, i.claim_id, i.code, i.reason),
buried as (
  insert into state.dead_letters (project_id, dead_letter_id, kind, tool_call_id, subject, headers, payload, code, reason, attempts)
  select project_id, claim_id || '-' || id, 'message', headers::json ->> 'CG-Tool-Call-Id', subject, headers, payload, code, reason, deliveries
    from gone
  returning 1)
select count(*)::int as changed from buried`,
};

export const BURY_DELIVERIES = {
  name: "bus_bury_deliveries",
  text: `
with gone as (
  delete from bus.deliveries d using ${burialInput.from}
   where d.durable = i.durable and d.id = i.id and d.claim_id = i.claim_id
  returning d.id, d.deliveries, i.claim_id, i.code, i.reason),
buried as (
  insert into state.dead_letters (project_id, dead_letter_id, kind, tool_call_id, subject, headers, payload, code, reason, attempts)
  select m.project_id, g.claim_id || '-' || g.id, 'message', m.headers::json ->> 'CG-Tool-Call-Id', m.subject, m.headers, m.payload,
         g.code, g.reason, g.deliveries
    from gone g join bus.messages m on m.id = g.id
  returning 1)
select count(*)::int as changed from buried`,
};
