// Reading calls. Their columns and the mapping of rows are in call-columns.sql.ts.

import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";
import type { CallKey, CallStatus } from "./call.ts";
import { FACT_COLUMNS, type FactRow, VIEW_COLUMNS } from "./call-columns.sql.ts";

export { FACT_COLUMNS, type FactRow, factsOf, type ViewRow, viewOf } from "./call-columns.sql.ts";

const keys = setInput<CallKey>([
  ["projectId", "text"],
  ["toolCallId", "text"],
]);

export const READ_CALLS: Statement = {
  name: "calls.read",
  text: `
select i.ord::int as ord, ${VIEW_COLUMNS}
  from ${keys.from}
  join state.calls c on c.project_id = any (array[i.project_id]) and c.tool_call_id = i.tool_call_id
 order by i.ord`,
};

export interface SettledCallRow extends FactRow {
  readonly status: CallStatus;
  readonly result_card_id: string | null;
  readonly error_code: string | null;
  readonly card_body: string | null;
}

/** Hundreds of callers may wait for one call, and each gets a copy. A larger result is read when its reader has room for it. */
export const MAX_TOLD_BYTES = 64 * 1024;

/** Which of these calls have settled, and how: what waiting callers ask after a doorbell. */
export const READ_SETTLED: Statement = {
  name: "calls.read-settled",
  text: `
select ${FACT_COLUMNS}, c.status, c.result_card_id, c.error_code,
       case when octet_length(k.body) <= ${MAX_TOLD_BYTES} then k.body end as card_body
  from ${keys.from}
 cross join lateral (
   select * from state.past_calls p where p.project_id = i.project_id and p.tool_call_id = i.tool_call_id offset 0) c
  left join lateral (
   select body from cards.cards x where x.project_id = c.project_id and x.card_id = c.result_card_id offset 0) k on true`,
};

export const bindKeys = (rows: readonly CallKey[]): unknown[] => keys.bind(rows);

/** $1 project, $2 call. */
export const READ_PIN: Statement = {
  name: "calls.read-pin",
  text: "select pin from state.live_calls where project_id = $1 and tool_call_id = $2",
};

/** The pins of these calls, of those that are live and pinned. */
export const READ_PINS: Statement = {
  name: "calls.read-pins",
  text: `
select i.ord::int as ord, c.pin
  from ${keys.from}
  join state.live_calls c on c.project_id = any (array[i.project_id]) and c.tool_call_id = i.tool_call_id
 where c.pin is not null`,
};

const OPEN = "array['queued', 'running', 'awaiting_approval']";

// Not "null or less": the planner cannot use the index for it, and a page far down was read from the newest row on.
/** $2, or what is behind every id. */
const BEFORE = "coalesce($2::text, chr(1114111))";

// The last two conditions are about the status alone: on the live side there is never a settled_at, on the past side never
// a due_at, so the side that has no call of that status is not read. A merge would look for a first one through all of it.
// A page of all holds nothing older than the last of as many past calls. Without that bound the live side is walked until a
// call is found, over all that have left and are not cleared away: with 100,000 of them half a second instead of milliseconds.
/** Newest first: ids sort by time. $1 project, $2 before this id or null, $3 limit, $4 status, $5 tool, $6 agent, each or null. */
export const LIST_CALLS: Statement = {
  name: "calls.list",
  text: `
with oldest as materialized (
  select tool_call_id from state.past_calls
   where project_id = $1 and tool_call_id < ${BEFORE}
     and $4::text is null and $5::text is null and $6::text is null
   order by project_id desc, tool_call_id desc
  offset $3::int - 1
   limit 1
)
select ${VIEW_COLUMNS}
  from state.calls c
 where c.project_id = $1 and c.tool_call_id >= coalesce((select tool_call_id from oldest), '')
   and c.tool_call_id < ${BEFORE}
   and ($4::text is null or c.status = $4::text) and ($5::text is null or c.tool_name = $5::text)
   and ($6::text is null or c.agent_id = $6::text)
   and ($4::text is null or $4::text = any (${OPEN}) or c.settled_at is not null)
   and ($4::text is null or $4::text <> all (${OPEN}) or c.due_at is not null)
 order by c.project_id desc, c.tool_call_id desc
 limit $3::int`,
};

// "offset 0" keeps the lookup a lookup: a plan made while there are no candidates would read all of them ever after.
/** Result cards that were written but not reported, oldest first. */
export const READ_CANDIDATES: Statement = {
  name: "calls.read-candidates",
  text: `
select k.project_id, k.tool_call_id, k.card_id, k.hash, k.body
  from ${keys.from}
 cross join lateral (
   select * from cards.cards where project_id = i.project_id and tool_call_id = i.tool_call_id and candidate offset 0) k
 order by k.written_at, k.card_id`,
};

export interface CandidateRow {
  readonly project_id: string;
  readonly tool_call_id: string;
  readonly card_id: string;
  readonly hash: string;
  readonly body: string;
}
