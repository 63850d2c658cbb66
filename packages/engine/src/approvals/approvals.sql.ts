// Approvals: a decided call leaves `awaiting_approval` once, by the condition of the UPDATE.

import { tellOf } from "../calls/call-events.sql.ts";
import { isHeld, offeredAt, RECHECK_PAUSED, WANTED_AT } from "../calls/offer.sql.ts";
import { FACT_COLUMNS, type FactRow } from "../calls/read.sql.ts";
import type { WeighedRow } from "../registry/page.ts";
import { withinPage } from "../registry/page-bytes.sql.ts";
import type { Statement } from "../sql/database.ts";

/** A call for later that is approved early still waits for its time. */
const WANTED = `greatest(now(), ${WANTED_AT})`;

/**
 * Into the queue, with the time the definition gives a call to wait there: the approval's own time is over.
 * $1 project, $2 call, $3 queue timeout in seconds, $4 the command's payload and $5 seconds until it is published again
 * (both null on the postgres bus), $6 the hash of the decision's card.
 */
export const APPROVE: Statement = {
  name: "approvals.approve",
  text: `
with offered as (
  update state.live_calls c
     set status = 'queued', approval_hash = $6, available_at = ${offeredAt(WANTED)}, queue_timeout_seconds = $3::double precision,
         queue_deadline = ${WANTED} + make_interval(secs => $3::double precision),
         run_deadline = case when c.plain and not ${isHeld("c")} then ${WANTED} + make_interval(secs => c.timeout_seconds) end,
         publishes = c.publishes + case when $4::text is null or ${isHeld("c")} or ${offeredAt("now()")} = 'infinity' then 0 else 1 end,
         due_at = least(${WANTED} + make_interval(secs => $3::double precision), ${RECHECK_PAUSED},
                        case when ${isHeld("c")} then case when ${WANTED_AT} > now() then ${WANTED_AT} end
                             when c.plain then ${WANTED} + make_interval(secs => c.timeout_seconds)
                             else ${WANTED} + make_interval(secs => $5::double precision) end)
   where c.project_id = $1 and c.tool_call_id = $2 and c.status = 'awaiting_approval' and c.queue_deadline > now()
  returning 1 as ord, c.*
),
told as (${tellOf("offered c", "c", [{ phase: "approval_decided", status: "c.status", attempt: "c.attempts" }])}
),
sent as (
  insert into bus.messages (category, project_id, subject, component, target, headers, payload, available_at)
  select 'cmd', project_id, subject, split_part(subject, '.', 6), target, headers, $4::text, available_at
    from offered o
   where $4::text is not null and not ${isHeld("o")} and available_at < 'infinity'
)
select 1 as moved from offered`,
};

/** The settlement that follows links the decision before its result. $1 project, $2 call, $3 the hash of the decision's card. */
export const NOTE_DENIAL: Statement = {
  name: "approvals.note-denial",
  text: `
update state.live_calls set approval_hash = $3
 where project_id = $1 and tool_call_id = $2 and status = 'awaiting_approval'`,
};

export interface WaitingRow extends FactRow, WeighedRow {
  readonly created_at: Date;
  readonly queue_deadline: Date;
  readonly call_body: string;
}

/** Oldest first: the call that waits longest is listed first. $1 project, $2 after this id, $3 limit. */
export const LIST_WAITING: Statement = {
  name: "approvals.list",
  text: withinPage(`
select ${FACT_COLUMNS}, c.created_at, c.queue_deadline, k.body as call_body,
       octet_length(k.body) as weight, row_number() over (order by c.tool_call_id) as place
  from state.live_calls c
 cross join lateral (select body from cards.cards x where x.project_id = $1 and x.card_id = c.call_card_id offset 0) k
 where c.project_id = $1 and c.status = 'awaiting_approval' and c.tool_call_id > $2::text
 order by c.tool_call_id
 limit $3`),
};
