// Dispatch in one statement and one commit: the call row (which is also its request edge, waiting row and place in the
// queue), its tool.call card, the events that tell of it, and - only when an external bus carries commands - the outbox row.
// I4: the row exists before any service can see the command. The tool's version is checked again inside the statement, so a
// definition read a moment ago (or from a cache) is never used after it was replaced. So is the depth of the agent in whose
// name a direct call is made (I9): what was remembered of it counts only if it is still true.

import type { AfterExecution } from "@toolplane/protocol";
import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";
import type { CallKey, CallStatus } from "./call.ts";
import { type DispatchRow, DISPATCH_INPUT as input, MADE_COLUMNS } from "./call-columns.sql.ts";
import { givenParts, tellOf } from "./call-events.sql.ts";
import { isHeld } from "./offer.sql.ts";

export type { DispatchRow } from "./call-columns.sql.ts";

/** The answer for a call that may be made; there is none for a call whose tool, project or caller is not as it was planned. */
export interface DispatchedRow {
  readonly ord: number;
  readonly inserted: boolean;
  /** If it was inserted: as leased to the service that waited for it. */
  readonly leased: boolean;
  /** A limit holds the call, so it waits at a gate. */
  readonly gated: boolean;
  readonly made_at: Date;
}

/** The answers in the order of the calls. */
export const answersOf = (
  calls: readonly unknown[],
  rows: readonly DispatchedRow[],
): readonly (DispatchedRow | undefined)[] => {
  const byOrd = new Map(rows.map((row) => [row.ord, row]));
  return calls.map((_, index) => byOrd.get(index + 1));
};

// A call whose tool is paused waits outside the queue; the watchdog looks again after these seconds, so that a resume
// that raced with this statement cannot strand it.
const PAUSED_RECHECK = "interval '5 seconds'";

// $next: seconds until an unleased command is published again (null on the postgres bus: the row itself is the queue).
const REPUBLISH = `$${input.next}`;

/** A command that was left out, because a service here was about to take the call, is published this soon if none did. */
const LEFT_OUT_SECONDS = 2;
const REPUBLISH_ROW = `case when command_payload is not null or ${REPUBLISH}::double precision is null then ${REPUBLISH}
            else least(${REPUBLISH}, ${LEFT_OUT_SECONDS}) end`;

// Rows of two CTEs are matched by a hashed subplan: "is true" keeps the planner from making a join of it, and joins of
// CTEs are nested loops under our settings (256 rows a flush: 65,536 comparisons each, 35 of 46 ms when measured).
const isAmong = (alias: string, cte: string): string =>
  `((${alias}.project_id, ${alias}.tool_call_id) in (select project_id, tool_call_id from ${cte})) is true`;

// A plain service never leases: its run deadline counts from dispatch, or from when its gate lets the command pass.
// Project, tool and caller are each looked up for a row of the input, never the other way round: as joins or an EXISTS they are
// planned as a scan of all projects or agents once the server knows that there are few, and such a plan would stay.
/** How deep an agent is: as deep as the turn it is in, and never less than it was made. */
export const agentDepth = (agent: string): string =>
  `greatest(${agent}.depth, coalesce((select h.active_recursion_depth from state.heads h
                 where h.project_id = ${agent}.project_id and h.agent_id = ${agent}.agent_id), 0))`;

// Scalar subqueries with a limit: an EXISTS may be planned as one scan of all live calls. A call of a session that waits for
// its session counts as well: whether it could run is decided where it is claimed. Limited calls do not count: they wait for their gate.
/** No due call stands in the queue of the target: a call that is leased at birth overtakes none. Pinned calls have their own line. */
const NOBODY_WAITS = `
  (select 1 from state.live_calls q
    where q.project_id = i.project_id and q.target = i.target and q.session is null and q.pin is null and q.gate is null and q.status = 'queued'
      and q.available_at <= now() and q.queue_deadline > now()
    order by q.lane, q.available_at, q.tool_call_id limit 1) is null
  and (i.pin is null or (select 1 from state.live_calls q
    where q.project_id = i.project_id and q.target = i.target and q.pin is not null and q.pin = i.pin and q.gate is null and q.session is null
      and q.status = 'queued' and q.available_at <= now() and q.queue_deadline > now()
    order by q.available_at, q.tool_call_id limit 1) is null)
  and (select 1 from state.live_calls q
        where q.project_id = i.project_id and q.target = i.target and q.session is not null and q.status = 'queued'
        order by q.session limit 1) is null`;

// The gate that a call has to pass: its tool's, or the project's own when the project or its targets have a limit. Calls of the plane's own managers hold no slot of the project:
// they wait for other calls, which need the slots.
const GATE = `case when t.limits is not null then i.tool_name
  when p.limits ?| array['concurrency', 'target_breaker'] and starts_with(i.actor_id, 'tool.') then '' end`;

/** Whether a call that was matched with a service is written as leased to it. */
const LEASED = `i.lease_id is not null and t.status <> 'paused' and (${GATE}) is null and ${NOBODY_WAITS}`;

const readyWith = (leased: string): string => `
with ready as materialized (
  select i.*, t.status = 'paused' as paused, ${GATE} as gate,
         greatest(now(), coalesce(to_timestamp(i.not_before_ms / 1000), now())) as wanted_at,
         ${leased} as leased
    from ${input.from}
   cross join lateral (
     select q.status, q.limits from resource.tools q
      where q.project_id = i.project_id and q.tool_name = i.tool_name and q.version = i.tool_version and q.status <> 'deleted'
     offset 0) t
   cross join lateral (
     select q.limits from resource.projects q where q.project_id = i.project_id and q.status = 'active' offset 0) p
   where (i.trusted or (select a.status = 'active' and (not i.headless or ${agentDepth("a")} = i.recursion_depth) from resource.agents a
            where a.project_id = i.project_id and a.agent_id = i.agent_id))
),
`;

const INSERT_CALLS = `
  insert into state.live_calls (${MADE_COLUMNS}, status, available_at, queue_deadline, due_at, publishes, run_deadline,
    attempts, lease_id, lease_holder, lease_expires_at, started_at, pin, gate, lane)
  select ${MADE_COLUMNS}, case when leased then 'running' else status end,
    case when paused then 'infinity' else wanted_at end,
    wanted_at + make_interval(secs => queue_timeout_seconds),
    least(case when leased then now() + make_interval(secs => least(lease_seconds, timeout_seconds))
               else wanted_at + make_interval(secs => queue_timeout_seconds) end,
          case when paused then now() + ${PAUSED_RECHECK} end,
          case when ${isHeld("r")} then case when not_before_ms is not null then wanted_at end
               when plain then wanted_at + make_interval(secs => timeout_seconds) end,
          case when not plain and not leased then wanted_at + make_interval(secs =>
            coalesce(${REPUBLISH_ROW}, case when wanted_at > now() then 0 end)) end),
    case when command_payload is null or paused or status <> 'queued' or ${isHeld("r")} then 0 else 1 end,
    case when leased or (plain and not ${isHeld("r")}) then wanted_at + make_interval(secs => timeout_seconds) end,
    case when leased then 1 else 0 end,
    case when leased then lease_id end,
    case when leased then lease_holder end,
    case when leased then now() + make_interval(secs => lease_seconds) end,
    case when leased then now() end, pin, gate, case when paused or wanted_at > now() then '' else agent_id end
  from ready r`;

const INSERT_CARDS = `
  insert into cards.cards (project_id, card_id, type, author_id, tool_call_id, agent_turn_id, step_id, hash, body, chain_seq, chain_hash)
  select r.project_id, r.call_card_id, 'tool.call', r.agent_id, r.tool_call_id, r.agent_turn_id, r.step_id, r.call_card_hash,
         r.card_body, r.chain_seq, r.chain_hash`;

const INSERT_COMMANDS = `
  insert into bus.messages (category, project_id, subject, component, target, headers, payload, available_at)
  select 'cmd', r.project_id, r.subject, split_part(r.subject, '.', 6), r.target, r.headers, r.command_payload, r.wanted_at
    from ready r
   where r.command_payload is not null and not r.paused and not r.leased and r.status = 'queued' and not ${isHeld("r")}`;

const tellMade = (which: string): string =>
  tellOf(
    `ready r${which}`,
    "r",
    [
      { phase: "dispatched", status: "r.status", attempt: "0" },
      { phase: "approval_wanted", status: "r.status", attempt: "0", when: "r.status = 'awaiting_approval'" },
      { phase: "leased", status: "'running'", attempt: "1", when: "r.leased" },
    ],
    givenParts("r"),
  );

/**
 * Calls that are all new, as direct calls without a key are: without `on conflict` (which costs a search of the primary key and
 * a second log record per row) and without matching. If one exists after all, the whole statement fails with a unique violation,
 * and DISPATCH finds out which.
 */
const dispatchFresh = (leased: string, answered = "ready r"): string => `${readyWith(leased)}called as (${INSERT_CALLS}
),
written as (${INSERT_CARDS}
    from ready r
),
sent as (${INSERT_COMMANDS}
   order by r.ord
),
told as (${tellMade("")}
)
select r.ord::int as ord, true as inserted, r.leased, r.gate is not null as gated, now() as made_at
  from ${answered}`;

const DISPATCH_FRESH: Statement = { name: "calls.dispatch-fresh", text: dispatchFresh(LEASED) };
/** For a flush in which no call was matched: to ask whether others wait costs a seventh of the statement (20 of 115 microseconds). */
const DISPATCH_QUEUED: Statement = { name: "calls.dispatch-fresh/queued", text: dispatchFresh("false") };

/** The statement for calls that are all new. */
export const dispatchOfNew = (rows: readonly DispatchRow[]): Statement =>
  rows.some(({ leaseId }) => leaseId !== null) ? DISPATCH_FRESH : DISPATCH_QUEUED;

/** The same, all or none: when a call is not ready, the transaction fails. */
export const DISPATCH_ALL: Statement = {
  name: "calls.dispatch-all",
  text: dispatchFresh(
    LEASED,
    "(select state.sure((select count(*) from ready) = cardinality($1::text[])) as sure) s left join ready r on s.sure",
  ),
};

// Keys first, then cards, then calls: a late request stops at the first. The card of a direct call has an id derived from the
// call and is kept with it, so after the call has settled only the card tells a second run of a request from the first.
/** Calls some of which may exist: by their key, by their id, or because an earlier run of the same request wrote them. */
export const DISPATCH: Statement = {
  name: "calls.dispatch",
  text: `${readyWith(LEASED)}keyed as (
  insert into state.call_keys (project_id, agent_id, tool_name, idempotency_key, tool_call_id)
  select project_id, agent_id, tool_name, idempotency_key, tool_call_id from ready where idempotency_key is not null
  on conflict do nothing
  returning project_id, tool_call_id
),
written as (${INSERT_CARDS}
    from ready r where r.idempotency_key is null or ${isAmong("r", "keyed")}
  on conflict do nothing
  returning project_id, tool_call_id
),
called as (${INSERT_CALLS} where ${isAmong("r", "written")}
  returning project_id, tool_call_id
),
sent as (${INSERT_COMMANDS} and ${isAmong("r", "called")}
   order by r.ord
),
told as (${tellMade(` where ${isAmong("r", "called")}`)}
)
select r.ord::int as ord, ${isAmong("r", "called")} as inserted, r.leased, r.gate is not null as gated, now() as made_at
  from ready r`,
};

export const bindDispatch = (rows: readonly DispatchRow[], republishSeconds: number | null): unknown[] => [
  ...input.bind(rows),
  republishSeconds,
];

export interface KeyLookup {
  readonly projectId: string;
  readonly agentId: string;
  readonly toolName: string;
  readonly idempotencyKey: string;
}

export interface KeyedRow {
  readonly ord: number;
  readonly tool_call_id: string;
  readonly arguments_hash: string;
  readonly agent_turn_id: string;
  readonly call_card_id: string;
  readonly trace_id: string;
  readonly after_execution: AfterExecution;
  readonly status: CallStatus;
  readonly recursion_depth: number;
}

const keys = setInput<KeyLookup>([
  ["projectId", "text"],
  ["agentId", "text"],
  ["toolName", "text"],
  ["idempotencyKey", "text"],
]);

/** The calls that already carry these keys (I12). */
export const FIND_KEYED: Statement = {
  name: "calls.find-keyed",
  text: `
select i.ord::int as ord, c.tool_call_id, c.arguments_hash, c.agent_turn_id, c.call_card_id, c.trace_id, c.after_execution, c.status, c.recursion_depth
  from ${keys.from}
 cross join lateral (
   select * from state.call_keys q
    where q.project_id = i.project_id and q.agent_id = i.agent_id and q.tool_name = i.tool_name
      and q.idempotency_key = i.idempotency_key
   offset 0) k
 cross join lateral (
   select * from state.calls q where q.project_id = k.project_id and q.tool_call_id = k.tool_call_id offset 0) c`,
};

export const bindKeys = (lookups: readonly KeyLookup[]): unknown[] => keys.bind(lookups);

export interface MadeRow extends KeyedRow {
  readonly tool_name: string;
  readonly agent_id: string;
}

const made = setInput<CallKey>([
  ["projectId", "text"],
  ["toolCallId", "text"],
]);

/** The calls that already have these ids: a run whose answer was lost wrote them. */
export const FIND_MADE: Statement = {
  name: "calls.find-made",
  text: `
select i.ord::int as ord, c.tool_call_id, c.arguments_hash, c.agent_turn_id, c.call_card_id, c.trace_id, c.after_execution, c.status, c.recursion_depth,
       c.tool_name, c.agent_id
  from ${made.from}
  join state.calls c on c.project_id = any (array[i.project_id]) and c.tool_call_id = i.tool_call_id`,
};

export const bindMade = (lookups: readonly CallKey[]): unknown[] => made.bind(lookups);

export interface RefusalRow {
  readonly ord: number;
  readonly project_status: string | null;
  readonly tool_status: string | null;
  readonly tool_version: number | null;
  readonly agent_known: boolean;
  /** Null for an agent that is not known. */
  readonly agent_depth: number | null;
}

const refusals = setInput<{ projectId: string; toolName: string; agentId: string }>([
  ["projectId", "text"],
  ["toolName", "text"],
  ["agentId", "text"],
]);

/** Why a row was not ready: read only when something was refused. */
export const EXPLAIN_REFUSAL: Statement = {
  name: "calls.explain-refusal",
  text: `
select i.ord::int as ord, p.status as project_status, t.status as tool_status, t.version as tool_version,
       coalesce((select a.status = 'active' from resource.agents a
                  where a.project_id = i.project_id and a.agent_id = i.agent_id), false) as agent_known,
       (select ${agentDepth("a")} from resource.agents a
         where a.project_id = i.project_id and a.agent_id = i.agent_id) as agent_depth
  from ${refusals.from}
  left join resource.projects p on p.project_id = any (array[i.project_id])
  left join resource.tools t on t.project_id = any (array[i.project_id]) and t.tool_name = i.tool_name`,
};

export const bindRefusals = (
  rows: readonly { readonly projectId: string; readonly toolName: string; readonly agentId: string }[],
): unknown[] => refusals.bind(rows);
