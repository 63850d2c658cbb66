// Leases. Claiming a command and leasing its call are one statement: what is not locked and due is taken, with its card.
// A lease of a tool that is not `retry: safe` must survive a crash of the server (it decides outcome_unknown), so it is
// synced. So is a lease under a limit or in a session: if the server forgot it, another call would get its slot or its session while the
// run goes on. Any other call of a safe tool may simply run again, so its lease does not wait for the disk.

import { RETURN_TOKENS } from "../gates/return-tokens.sql.ts";
import { type GivenOf, given, inputOf } from "../sql/columns.sql.ts";
import type { Statement } from "../sql/database.ts";
import { tellOf } from "./call-events.sql.ts";
import { DROP_RELEASED, IS_ENDED, keepLeases, TELL_RETRIED } from "./ended-leases.sql.ts";
import { offeredAt, RECHECK_PAUSED } from "./offer.sql.ts";
import { FACT_COLUMNS } from "./read.sql.ts";

const text = () => given<string>("text");

export const HOLDER = { leaseId: text(), holder: text(), leaseSeconds: given<number>("double precision") } as const;

const CLAIM_COLUMNS = {
  projectId: text(),
  target: text(),
  max: given<number>("integer"),
  /** Lanes behind this one come first. */
  afterLane: text(),
  /** Only calls that may run again (handover.ts, HO5). */
  safeOnly: given<boolean>("boolean"),
  ...HOLDER,
} as const;

const CHOICE = {
  /** Whether sessions or calls without a session come first when not all fit; alternating, so that neither waits for ever. */
  sessionsFirst: given<boolean>("boolean"),
  /** The definitions that the service names, with commas between them. */
  named: text(),
  /** The pinned definitions it may run, likewise; `*` for all. */
  pins: text(),
  /** Whether calls of these definitions come before others: services of the target run different definitions. */
  prefers: given<boolean>("boolean"),
} as const;

export type ClaimRow = GivenOf<typeof CLAIM_COLUMNS & typeof CHOICE>;

const firstLineClaims = inputOf(CLAIM_COLUMNS);
export const CLAIMS = inputOf({ ...CLAIM_COLUMNS, ...CHOICE });

/** Where the state of a taken call's session is read from: a join, or nothing in statements that take only calls without a session. */
interface StateSource {
  readonly column: string;
  readonly bytes: string;
  readonly join: string;
}

export const SESSION_STATE: StateSource = {
  column: "s.state",
  bytes: "coalesce(octet_length(s.state), 0)",
  join: "left join state.sessions s on s.project_id = any (array[c.project_id]) and s.session = c.session",
};
const NO_STATE: StateSource = { column: "null", bytes: "0", join: "" };

/** For a taken call `c`: each start takes a token of its tool's rate. */
export const IS_RATED = `(c.gate is not null and coalesce((
          select t.limits -> 'rate' is not null from resource.tools t where t.project_id = c.project_id and t.tool_name = c.gate), false))`;

/** What the calls of one claim have together, but for the last: those behind it come without their card, and are given back. */
export const CLAIM_BYTES = 8 * 1024 * 1024;

/**
 * `picked` has ord, lease_id, holder, lease_seconds, lanes: among how many lanes the row's claim was shared, and forgettable: whether the
 * database may forget the lease when it crashes. `isRated`: false for statements that take no limited calls.
 */
export const take = (isPicked: string, state: StateSource, isRated = "false"): string => `
durability as materialized (
  select set_config('synchronous_commit',
           case when coalesce(bool_and(forgettable), true) then 'off' else current_setting('synchronous_commit') end, true)
    from picked
),
leased as (
  update state.live_calls c
     set status = 'running', lease_id = p.lease_id, lease_holder = p.holder, attempts = c.attempts + 1, started_at = now(),
         lease_expires_at = now() + make_interval(secs => p.lease_seconds),
         run_deadline = now() + make_interval(secs => c.timeout_seconds),
         due_at = now() + make_interval(secs => least(p.lease_seconds, c.timeout_seconds))
    from picked p, durability
   where ${isPicked}
  returning p.ord, p.lanes, c.*
),
told as (${tellOf("leased c", "c", [{ phase: "leased", status: "c.status", attempt: "c.attempts" }])}
)
(select c.ord::int as ord, ${FACT_COLUMNS}, c.attempts, c.lease_id, c.lease_expires_at, c.run_deadline,
        case when sum(octet_length(k.body) + ${state.bytes}) over claim - octet_length(k.body) - ${state.bytes} < ${CLAIM_BYTES}
             then k.body end as card_body,
        ${state.column} as session_state, c.lanes::int as lanes, c.lane, ${isRated} as rated
   from leased c
   join cards.cards k on k.project_id = any (array[c.project_id]) and k.card_id = c.call_card_id
   ${state.join}
 window claim as (partition by c.ord order by c.available_at, c.tool_call_id)
  order by c.ord, c.available_at, c.tool_call_id)`;

/** Whether the service of row `w` may run calls that are pinned to a definition. */
export const mayRun = (pin: string): string => `(${pin} = any (string_to_array(w.pins, ',')) or w.pins = '*')`;

/** For a queued call that was selected without an alias. */
export const IS_DUE = "status = 'queued' and available_at <= now() and queue_deadline > now()";

/** Whether a call of the session runs; `w` names the project. */
export const isBusy = (session: string): string => `exists (
  select from state.live_calls r where r.project_id = w.project_id and r.session = ${session} and r.status = 'running' and r.session is not null)`;

/** Whether the service of row `w` is given a call; for a call that was selected without an alias. */
export const IS_GIVEN = "(retry_safe or not w.safe_only)";

/** A call of the first line: of no session, not pinned, not limited. For a call that was selected without an alias. */
const IS_IN_FIRST_LINE = "session is null and pin is null and gate is null";

/** Queued calls stand in one of these lines, each with an index of its own; spelt as the condition of the index. */
export const QUEUE_LINES = [
  { which: IS_IN_FIRST_LINE, order: "lane" },
  { which: "session is null and pin is not null and gate is null", order: "pin" },
  { which: "session is not null", order: "session" },
  { which: "gate is not null", order: "gate" },
] as const;

const IN_LINE = `project_id = w.project_id and target = w.target and status = 'queued' and ${IS_IN_FIRST_LINE}`;

/** The lanes of the first line of row `w` for which `range` holds, in their order, each with one lookup. */
const lanesOf = (name: string, range: (lane: string) => string): string => `
     ${name} as (
       (select lane from state.live_calls where ${IN_LINE} and ${range("lane")} order by lane limit 1)
       union all
       select (select q.lane from state.live_calls q where ${IN_LINE} and q.lane > k.lane and ${range("q.lane")} order by q.lane limit 1)
         from ${name} k where k.lane is not null)`;

// Only lanes with a due call are counted. A queue with one lane, as most have, costs a few lookups more than one without lanes.
/**
 * Due calls of the first line of row `w`, shared between its lanes, those behind `w.after_lane` first: at most `limit`, at least one of
 * each lane. So a thousand calls of one agent do not keep the one call of another agent waiting.
 */
export const sharedByLane = (limit: string, columns: string): string => `
   cross join lateral (
     with recursive${lanesOf("later", (lane) => `${lane} > w.after_lane`)},${lanesOf("earlier", (lane) => `${lane} <= w.after_lane`)}
     select lane, count(*) over () as lanes
       from (select k.lane from (select lane from later union all select lane from earlier) k
              where k.lane is not null
                and (select 1 from state.live_calls
                      where project_id = w.project_id and target = w.target and ${IS_IN_FIRST_LINE} and lane = k.lane and ${IS_DUE} and ${IS_GIVEN}
                      order by available_at, tool_call_id limit 1) is not null
              limit w.max) found) l
   cross join lateral (
     select ${columns}
       from state.live_calls
      where project_id = w.project_id and target = w.target and ${IS_IN_FIRST_LINE} and lane = l.lane and ${IS_DUE} and ${IS_GIVEN}
      order by available_at, tool_call_id
      limit greatest(1, (${limit}) / l.lanes)
        for update skip locked) c`;

// A picked row is locked, so it stays where it is and is found by its physical place, without the primary key. Only a row that
// was put back into the queue after this statement began has moved; the next look finds it.
const PICKED = `
picked as materialized (
  select w.ord, w.lease_id, w.holder, w.lease_seconds, c.place, c.retry_safe as forgettable, l.lanes
    from wanted w${sharedByLane("w.max", "ctid as place, retry_safe")}
),`;

/** Takes up to `max` queued calls of no session, no pin and no gate per (project, target); a pair must occur once per statement. */
export const CLAIM_FIRST_LINE: Statement = {
  name: "calls.claim-first-line",
  text: `
with wanted as materialized (select * from ${firstLineClaims.from}),${PICKED}${take("c.ctid = p.place", NO_STATE)}`,
};

export const SESSIONS_WAIT = "sessions wait";
export const LIMITED_WAIT = "limited calls wait";
export const UNSAFE_WAIT = "calls wait that may not run twice";

/** For a claim under the alias `i`. */
export const LIMITED_CALLS_WAIT = `(select 1 from state.live_calls s where s.project_id = i.project_id and s.target = i.target
             and s.gate is not null and s.status = 'queued' order by s.gate limit 1) is not null`;

/** How many calls of a line are looked at: a long line of calls that a limit holds is not read at each look. */
const UNSAFE_AMONG = 100;

/** A pair for `sayWaiting`: the claim got nothing, and calls wait that its service may not be given. */
export const UNSAFE_CALLS_WAIT = `('${UNSAFE_WAIT}', case when w.safe_only and not exists (select from picked p where p.ord = w.ord) then ${QUEUE_LINES.map(
  ({ which, order }) => `(select coalesce(bool_or(not first.retry_safe), false) from (
    select retry_safe from state.live_calls
     where project_id = w.project_id and target = w.target and ${which} and ${IS_DUE} and (pin is null or ${mayRun("pin")})
     order by ${order}, available_at, tool_call_id limit ${UNSAFE_AMONG}) first)`,
).join(" or ")} else false end)`;

/** Rows without a call, behind those of `take`: what else waits, of pairs of words and conditions. */
export const sayWaiting = (pairs: string): string => `
select w.ord::int, ${FACT_COLUMNS}, c.attempts, c.lease_id, c.lease_expires_at, c.run_deadline, null, null, 0, waiting.what, false
  from wanted w
 cross join (select (null::state.live_calls).*) c
 cross join lateral (values ${pairs}) as waiting (what, is_so)
 where waiting.is_so`;

// Calls of sessions and pinned calls are taken by a statement of their own (claim-sessions.sql.ts), which costs half as much
// again; where some wait, a row without a call says so. Asking costs 30 of 160 microseconds on an empty queue.
/** The same, and says where calls of sessions, pinned calls or limited calls wait: in `lane`, of rows without a call. */
export const CLAIM: Statement = {
  name: "calls.claim",
  text: `
with wanted as materialized (
  select i.*, (select 1 from state.live_calls s where s.project_id = i.project_id and s.target = i.target
                  and s.session is not null and s.status = 'queued' order by s.session limit 1) is not null
            or (select 1 from state.live_calls s where s.project_id = i.project_id and s.target = i.target
                   and s.pin is not null and s.gate is null and s.session is null and s.status = 'queued' order by s.pin limit 1) is not null as sessions_wait,
         ${LIMITED_CALLS_WAIT} as limited_wait
    from ${CLAIMS.from}
),${PICKED}${take("c.ctid = p.place", NO_STATE)}
union all${sayWaiting(`('${SESSIONS_WAIT}', w.sessions_wait), ('${LIMITED_WAIT}', w.limited_wait), ${UNSAFE_CALLS_WAIT}`)}`,
};

export const bindFirstLineClaims = (rows: readonly ClaimRow[]): unknown[] => firstLineClaims.bind(rows);
export const bindClaims = (rows: readonly ClaimRow[]): unknown[] => CLAIMS.bind(rows);

const LEASE_COLUMNS = {
  projectId: text(),
  toolCallId: text(),
  agentTurnId: text(),
  callCardId: text(),
  ...HOLDER,
  pins: text(),
} as const;

export type LeaseRow = GivenOf<typeof LEASE_COLUMNS>;
const leases = inputOf(LEASE_COLUMNS);

/** The gate has let its command pass, and no service holds it: a service that leases after all may have it. */
const WAS_SENT = "(status = 'running' and plain and lease_id is null and run_deadline > now())";

/** Takes named calls: the command came over a bus. The turn and card it names must be the call's own. */
export const LEASE: Statement = {
  name: "calls.lease",
  text: `
with wanted as materialized (select * from ${leases.from}),
free as materialized (
  select w.ord, w.lease_id, w.holder, w.lease_seconds, 1 as lanes, c.*
    from wanted w
   cross join lateral (
     select project_id, tool_call_id, retry_safe, session
       from state.live_calls q
      where project_id = w.project_id and tool_call_id = w.tool_call_id and agent_turn_id = w.agent_turn_id
        and call_card_id = w.call_card_id
        and ((${IS_DUE} and (session is null or not ${isBusy("q.session")}) and (pin is null or ${mayRun("pin")}) and gate is null)
             or ${WAS_SENT})
        for update skip locked) c
),
picked as materialized (
  select *, retry_safe as forgettable from free where session is null
  union all
  (select distinct on (project_id, session) *, false from free where session is not null order by project_id, session, ord)
),${take("c.project_id = any (array[p.project_id]) and c.tool_call_id = p.tool_call_id", SESSION_STATE, IS_RATED)}`,
};

export const bindLeases = (rows: readonly LeaseRow[]): unknown[] => leases.bind(rows);

/** What claims whose answer was lost have taken: found again by their lease ids among the live rows. $1 lease ids. */
export const RECALL: Statement = {
  name: "calls.recall-claim",
  text: `
select array_position($1::text[], c.lease_id) as ord, ${FACT_COLUMNS}, c.attempts, c.lease_id, c.lease_expires_at, c.run_deadline,
       k.body as card_body, s.state as session_state, 1 as lanes, c.lane, ${IS_RATED} as rated
  from state.live_calls c
  join cards.cards k on k.project_id = any (array[c.project_id]) and k.card_id = c.call_card_id
  left join state.sessions s on s.project_id = any (array[c.project_id]) and s.session = c.session
 where c.due_at < 'infinity' and c.lease_id = any($1::text[]) and c.status = 'running'`,
};

// A call that was not started has used no attempt; RETURN_TOKENS gives its token back. `republish`: not null when its
// command must be published again on an external bus.
const backInQueue = (republish: string): string => `
         status = 'queued', lease_id = null, lease_holder = null, lease_expires_at = null, started_at = null,
         run_deadline = null, attempts = greatest(c.attempts - 1, 0), available_at = ${offeredAt("now()")},
         due_at = least(c.queue_deadline, case when ${republish}::double precision is not null then now() end, ${RECHECK_PAUSED})`;

/**
 * Back to the queue, as if never claimed: what a claim took whose holder was never told. Found among the live rows.
 * $1 lease ids, $2 not null when an external bus must hear of it: then a watchdog publishes the command again at once.
 */
export const GIVE_BACK: Statement = {
  name: "calls.give-back",
  text: `
with ended as materialized (
  select q.*, 1 as ord
    from state.live_calls q
   where q.due_at < 'infinity' and q.status = 'running' and q.lease_id = any($1::text[])
     for update
),
kept as (${keepLeases("released")}
),${DROP_RELEASED},
told as (${TELL_RETRIED}
),${RETURN_TOKENS}
update state.live_calls c
   set ${backInQueue("$2")}
  from ended e
 where ${IS_ENDED}
returning c.tool_call_id`,
};

const HELD_COLUMNS = {
  projectId: text(),
  toolCallId: text(),
  leaseId: text(),
  leaseSeconds: given<number>("double precision"),
} as const;

export type HeldRow = GivenOf<typeof HELD_COLUMNS>;
const held = inputOf(HELD_COLUMNS);

/**
 * Extends live leases. A lease that is not returned was lost; the reason is read afterwards, because this statement's own
 * snapshot would still show the call as it was before. A heartbeat lost in a server crash only shortens a lease, so it does not
 * wait for the disk.
 */
export const HEARTBEAT: Statement = {
  name: "calls.heartbeat",
  text: `
with input as materialized (select * from ${held.from}),
durability as materialized (select set_config('synchronous_commit', 'off', true)),
kept as (
  update state.live_calls c
     set lease_expires_at = now() + make_interval(secs => i.lease_seconds),
         due_at = least(c.run_deadline, now() + make_interval(secs => i.lease_seconds))
    from input i, durability
   where c.project_id = any (array[i.project_id]) and c.tool_call_id = i.tool_call_id
     and c.status = 'running' and c.lease_id = i.lease_id
  returning i.ord, c.lease_expires_at
)
select ord::int as ord, lease_expires_at from kept`,
};

/**
 * Gives back what was leased but not started: back to the queue, the attempt not counted. With an external bus its
 * command is gone, so it is due at once and a watchdog publishes it again.
 */
export const RELEASE: Statement = {
  name: "calls.release",
  text: `
with input as materialized (select * from ${held.from}),
ended as materialized (
  select i.ord, c.*
    from input i
   cross join lateral (
     select * from state.live_calls q
      where q.project_id = i.project_id and q.tool_call_id = i.tool_call_id and q.status = 'running' and q.lease_id = i.lease_id
        for update) c
),
kept as (${keepLeases("released")}
),${DROP_RELEASED},
told as (${TELL_RETRIED}
),${RETURN_TOKENS},
given as (
  update state.live_calls c
     set ${backInQueue(`$${held.next}`)}
    from ended e
   where ${IS_ENDED}
  returning e.ord
)
select ord::int as ord from given`,
};

export const bindHeld = (rows: readonly HeldRow[]): unknown[] => held.bind(rows);
export const bindRelease = (rows: readonly HeldRow[], republishSeconds: number | null): unknown[] => [
  ...held.bind(rows),
  republishSeconds,
];
