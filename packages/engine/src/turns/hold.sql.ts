// Holding heads and reading what is decided by them, in one statement.
//   A statement reads the state at its beginning, and the lock comes later: what was committed in between is not read. So the
//   head is read twice, at the beginning and under the lock. The same version (`xmin`) means that no transaction wrote the head
//   in between. Every statement that writes what is read here also writes or touches the head, so the rest is current too.
//   Another version means that the rest is old: the head is `steady = false`, and the caller reads again.
//   Changes without the head (results that arrive, claims that are given back) ring afterwards.

import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";
import { waitedCalls } from "./advance.sql.ts";
import type { AgentKey, TurnKey } from "./turn.ts";
import { TURN_COLUMNS } from "./turn-row.ts";
import { queuedTurns } from "./turns.sql.ts";

const HEAD_COLUMNS = `
  h.project_id, h.agent_id, h.status, h.active_agent_turn_id, h.active_channel_id, h.turn_epoch, h.waiting_tool_count,
  h.chain_seq, h.chain_hash, h.now_ms`;

/** The head of the row `i`, held as `h` (nulls when it is not) and known as `s`. */
export const heldHead = (ending: "skip locked" | ""): string => `
  left join lateral (
    select q.xmin::text as version from state.heads q where q.project_id = i.project_id and q.agent_id = i.agent_id offset 0) s on true
  left join lateral (
    select q.project_id, q.agent_id, q.status, q.active_agent_turn_id, q.active_channel_id, q.turn_epoch::float8 as turn_epoch,
           q.waiting_tool_count, q.chain_seq, q.chain_hash, floor(extract(epoch from now()) * 1000)::float8 as now_ms,
           q.xmin::text as version
      from state.heads q
     where q.project_id = i.project_id and q.agent_id = i.agent_id
    offset 0 for update ${ending}) h on true`;

export const HELD_FLAGS = "s.version is not null as known, coalesce(h.version = s.version, false) as steady";

// More than a step ever asks for; the next advance reads the rest.
const MAX_ROWS = 500;

/** The rows of a query as one JSON array. */
export const rowsOf = (text: string): string =>
  `coalesce((select json_agg(row_to_json(x)) from (${text}) x), '[]'::json)`;

const turnOf = (key: string): string => `
  (select row_to_json(x) from (select ${TURN_COLUMNS} from state.turns t where t.project_id = i.project_id and t.agent_turn_id = ${key}) x)`;

// Rows that are due, and work whose claim has lapsed, in order.
const LIVE_ROWS = rowsOf(`
    select r.inbox_id, r.message_type, r.correlation_id, r.agent_turn_id, r.turn_epoch::float8 as turn_epoch,
           r.channel_id, r.context_headers, r.payload, r.status, r.claim_id, r.retry_count,
           floor(extract(epoch from r.created_at) * 1000)::float8 as created_ms
      from state.inbox r
     where r.project_id = i.project_id and r.agent_id = i.agent_id and r.archived_at is null and r.status <> 'queued'
       and r.next_retry_at <= now() and (r.status <> 'processing' or r.claim_expires_at <= now() or r.claim_id = i.claim_id)
     order by r.next_retry_at, r.created_at, r.inbox_id
     limit ${MAX_ROWS}`);

const BEGUN_STEPS = `
  (select json_agg(p.step_id) from state.steps p
    where p.agent_turn_id = h.active_agent_turn_id and p.project_id = i.project_id and p.ended_at is null)`;

export const QUEUED = rowsOf(queuedTurns);

export interface LiveKey extends AgentKey {
  /** Made with the request: after a lost answer, what the attempt has claimed is found by it. */
  readonly claimId: string;
}

const agents = setInput<LiveKey>([
  ["projectId", "text"],
  ["agentId", "text"],
  ["claimId", "text"],
]);

/** An agent with what it has to do, and what its turn waits for. */
export const HOLD_AGENTS: Statement = {
  name: "turns.hold-agents",
  holds: true,
  text: `
select i.ord::int as ord, ${HELD_FLAGS}, ${HEAD_COLUMNS},
       (select a.worker_target from resource.agents a where a.project_id = i.project_id and a.agent_id = i.agent_id) as worker_target,
       ${LIVE_ROWS} as live,
       case when h.active_agent_turn_id is not null then ${turnOf("h.active_agent_turn_id")} end as turn,
       case when h.status in ('suspended', 'running') then ${rowsOf(waitedCalls("h.active_agent_turn_id", "h.turn_epoch::bigint"))} end as calls,
       case when h.status in ('dispatched', 'running') then ${BEGUN_STEPS} end as begun_steps
  from ${agents.from} ${heldHead("skip locked")}
 order by i.ord`,
};

export const bindHeldAgents = (rows: readonly LiveKey[]): unknown[] => agents.bind(rows);

export interface HeldWorkKey extends TurnKey, AgentKey {
  readonly inboxId: string;
  /** The step it is about, if any. */
  readonly stepId: string | null;
}

const works = setInput<HeldWorkKey>([
  ["projectId", "text"],
  ["agentId", "text"],
  ["agentTurnId", "text"],
  ["inboxId", "text"],
  ["stepId", "text"],
]);

// Each lookup is a subquery of its own ("offset 0"): joined, the planner may begin with the wrong one while tables are small,
// and that plan would stay.
const holdWork = (more: string): string => `
select i.ord::int as ord, ${HELD_FLAGS}, ${HEAD_COLUMNS}, r.status as inbox_status, r.claim_id, p.status as step_status,
       p.request_hash as step_hash, p.outcome as step_outcome, ${turnOf("i.agent_turn_id")} as turn${more}
  from ${works.from} ${heldHead("skip locked")}
  left join lateral (
    select q.status, q.claim_id from state.inbox q where q.project_id = i.project_id and q.inbox_id = i.inbox_id offset 0) r on true
  left join lateral (
    select q.status, q.request_hash, q.outcome from state.steps q
     where q.project_id = i.project_id and q.agent_id = i.agent_id and q.step_id = i.step_id offset 0) p on true
 order by i.ord`;

/** A turn with the row and the step that the worker names. */
export const HOLD_WORK: Statement = { name: "turns.hold-work", holds: true, text: holdWork("") };

/** The same, with the turns that wait for the agent. */
export const HOLD_LAST_WORK: Statement = {
  name: "turns.hold-last-work",
  holds: true,
  text: holdWork(`, ${QUEUED} as queue`),
};

export const bindHeldWork = (rows: readonly HeldWorkKey[]): unknown[] => works.bind(rows);

export interface KeptKey extends AgentKey {
  readonly inboxId: string;
  readonly claimId: string;
  /** The head's version when it was last written or read here. */
  readonly version: string;
}

const kept = setInput<KeptKey>([
  ["projectId", "text"],
  ["agentId", "text"],
  ["inboxId", "text"],
  ["claimId", "text"],
  ["version", "text"],
]);

export const NOW_MS = "floor(extract(epoch from now()) * 1000)::float8";

/** The head of the row `i`, held as `h`; nulls while another transaction holds it. */
export const KEPT_HEAD = `
  left join lateral (
    select q.xmin::text as version from state.heads q where q.project_id = i.project_id and q.agent_id = i.agent_id
    offset 0 for update skip locked) h on true`;

/** No turn waits for the agent of `i`. */
export const NO_QUEUE = `(
    select 1 from state.inbox q where q.project_id = i.project_id and q.agent_id = i.agent_id and q.status = 'queued'
     order by q.created_at, q.inbox_id limit 1) is null`;

// Fails where one is not as it is known (state.sure): the transaction ends, and nothing of what was planned from memory is written.
const keepWork = (more: string): string => `
select state.sure(count(*) filter (where h.version = i.version and r.status = 'processing' and r.claim_id = i.claim_id${more}) = count(*)) as kept,
       ${NOW_MS} as now_ms
  from ${kept.from} ${KEPT_HEAD}
  left join lateral (
    select q.status, q.claim_id from state.inbox q where q.project_id = i.project_id and q.inbox_id = i.inbox_id offset 0) r on true`;

/** Holds the heads if they, and the claims, are what the caller remembers; fails otherwise. */
export const KEEP_WORK: Statement = { name: "turns.keep-work", holds: true, text: keepWork("") };

/** The same, where also no turn waits for the agent. */
export const KEEP_LAST_WORK: Statement = {
  name: "turns.keep-last-work",
  holds: true,
  text: keepWork(` and ${NO_QUEUE}`),
};

/** What each of them answers. */
export interface KeptRow {
  readonly now_ms: number;
}

export const bindKept = (rows: readonly KeptKey[]): unknown[] => kept.bind(rows);
