// Reading calls, and the mapping from rows to the nouns of call.ts.

import type { AfterExecution } from "@toolplane/protocol";
import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";
import type { CallFacts, CallKey, CallStatus, CallView, Lineage } from "./call.ts";

/** The columns of a call that never change, for the alias `c`. */
export const FACT_COLUMNS = `
  c.project_id, c.tool_call_id, c.agent_id, c.agent_turn_id, c.turn_epoch::float8 as turn_epoch, c.step_id, c.headless, c.channel_id,
  c.provider_call_id, c.tool_name, c.tool_version, c.definition_hash, c.subject, c.target, c.actor_id, c.after_execution,
  c.call_card_id, c.call_card_hash, c.headers, c.lineage, c.recursion_depth, c.trace_id, c.retry_safe, c.plain,
  c.timeout_seconds, c.session`;

const STATE_COLUMNS = `
  c.status, c.idempotency_key, c.retry_of, c.attempts, c.publishes, c.lease_id, c.lease_holder, c.lease_expires_at, c.run_deadline,
  c.queue_deadline, nullif(c.available_at, 'infinity') as available_at, c.created_at, c.started_at, c.settled_at,
  c.settled_by, c.result_card_id, c.result_hash, c.error_code`;

export interface FactRow {
  readonly project_id: string;
  readonly tool_call_id: string;
  readonly agent_id: string;
  readonly agent_turn_id: string;
  readonly turn_epoch: number;
  readonly step_id: string;
  readonly headless: boolean;
  readonly channel_id: string;
  readonly provider_call_id: string | null;
  readonly tool_name: string;
  readonly tool_version: number;
  readonly definition_hash: string;
  readonly subject: string;
  readonly target: string;
  readonly actor_id: string;
  readonly after_execution: AfterExecution;
  readonly call_card_id: string;
  readonly call_card_hash: string;
  readonly headers: string;
  readonly lineage: string;
  readonly recursion_depth: number;
  readonly trace_id: string;
  readonly retry_safe: boolean;
  readonly plain: boolean;
  readonly timeout_seconds: number;
  readonly session: string | null;
}

export interface ViewRow extends FactRow {
  readonly status: CallStatus;
  readonly idempotency_key: string | null;
  readonly retry_of: string | null;
  readonly attempts: number;
  readonly publishes: number;
  readonly lease_id: string | null;
  readonly lease_holder: string | null;
  readonly lease_expires_at: Date | null;
  readonly run_deadline: Date | null;
  readonly queue_deadline: Date;
  readonly available_at: Date | null;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly settled_at: Date | null;
  readonly settled_by: string | null;
  readonly result_card_id: string | null;
  readonly result_hash: string | null;
  readonly error_code: string | null;
}

export const factsOf = (row: FactRow): CallFacts => ({
  projectId: row.project_id,
  toolCallId: row.tool_call_id,
  agentId: row.agent_id,
  agentTurnId: row.agent_turn_id,
  turnEpoch: row.turn_epoch,
  stepId: row.step_id,
  headless: row.headless,
  channelId: row.channel_id,
  providerCallId: row.provider_call_id,
  toolName: row.tool_name,
  toolVersion: row.tool_version,
  definitionHash: row.definition_hash,
  subject: row.subject,
  target: row.target,
  actorId: row.actor_id,
  afterExecution: row.after_execution,
  callCardId: row.call_card_id,
  callCardHash: row.call_card_hash,
  headers: JSON.parse(row.headers) as Record<string, string>,
  lineage: JSON.parse(row.lineage) as Lineage,
  recursionDepth: row.recursion_depth,
  traceId: row.trace_id,
  retrySafe: row.retry_safe,
  plain: row.plain,
  timeoutSeconds: row.timeout_seconds,
  session: row.session,
});

export const viewOf = (row: ViewRow): CallView => ({
  ...factsOf(row),
  status: row.status,
  idempotencyKey: row.idempotency_key,
  retryOf: row.retry_of,
  attempts: row.attempts,
  publishes: row.publishes,
  leaseId: row.lease_id,
  leaseHolder: row.lease_holder,
  leaseExpiresAt: row.lease_expires_at,
  runDeadline: row.run_deadline,
  queueDeadline: row.queue_deadline,
  availableAt: row.available_at,
  createdAt: row.created_at,
  startedAt: row.started_at,
  settledAt: row.settled_at,
  settledBy: row.settled_by,
  resultCardId: row.result_card_id,
  resultHash: row.result_hash,
  errorCode: row.error_code,
});

const keys = setInput<CallKey>([
  ["projectId", "text"],
  ["toolCallId", "text"],
]);

export const READ_CALLS: Statement = {
  name: "calls.read",
  text: `
select i.ord::int as ord, ${FACT_COLUMNS}, ${STATE_COLUMNS}
  from ${keys.from}
  join state.calls c on c.project_id = any (array[i.project_id]) and c.tool_call_id = i.tool_call_id
 order by i.ord`,
};

/** Which of these calls have settled: what waiting callers ask after a doorbell. */
export const READ_SETTLED: Statement = {
  name: "calls.read-settled",
  text: `
select i.ord::int as ord
  from ${keys.from}
 cross join lateral (
   select from state.past_calls c where c.project_id = i.project_id and c.tool_call_id = i.tool_call_id offset 0) c`,
};

export const bindKeys = (rows: readonly CallKey[]): unknown[] => keys.bind(rows);

const OPEN = "array['queued', 'running', 'awaiting_approval']";

// Not "null or less": that leads nobody into the index, and a page far down was read from the newest on.
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
select ${FACT_COLUMNS}, ${STATE_COLUMNS}
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
