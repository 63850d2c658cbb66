// Settlement in one statement and one commit: the call's result, its card, and for an agent's turn the inbox row and the
// wakeup. The row moves from the live calls to the past ones; the DELETE's condition alone decides who may settle:
//   report  the holder of the lease on the row; or, without a lease, any service of the right actor while no lease is live and
//           the call can have run (I6, offer.sql.ts); and with the card that stands for the call, if there is one
//   cancel  any caller with the right to cancel; the call is open
//   deny    a person; the call waits for approval
//   expire  a watchdog; the call is open, due, and still has the holder that was read
// First valid result wins (I1): a settled call has no live row.

import type { ToolResultContent } from "@toolplane/protocol";
import { KEEP_SLOTS } from "../gates/lingering-runs.sql.ts";
import { type GivenOf, given, inputOf, namesOf } from "../sql/columns.sql.ts";
import type { Statement } from "../sql/database.ts";
import { EVENT_LINE, KEPT_COLUMNS, KEPT_OF_CALL } from "./call-columns.sql.ts";
import { givenParts, tellOf } from "./call-events.sql.ts";
import { inHands } from "./offer.sql.ts";
import { linkOf } from "./turn-chain.sql.ts";

export type SettleMode = "report" | "cancel" | "deny" | "expire";

/** What a settlement has to tell of control keys; absent when it has nothing. */
export interface ControlUse {
  readonly toolName: string;
  /** The keys the stored result carries. */
  readonly used: readonly string[];
  /** What they ask for, when it is valid. */
  readonly afterExecution: string | undefined;
  /** The keys that were taken out of a foreign body before it was reported. */
  readonly stripped: readonly string[];
}

const text = () => given<string>("text");
const textOrNull = () => given<string | null>("text");

const RESULT = {
  projectId: text(),
  toolCallId: text(),
  mode: given<SettleMode>("text"),
  leaseId: textOrNull(),
  status: text(),
  errorCode: textOrNull(),
  settledBy: text(),
  resultCardId: text(),
  resultHash: text(),
  cardHash: text(),
  /** Absent when the card was written before (the protocol's two steps). */
  cardBody: textOrNull(),
  agentTurnId: text(),
  stepId: text(),
  /** The call becomes a dead letter as well. */
  dead: given<boolean>("boolean"),
  ...EVENT_LINE,
} as const;

/** Absent for a headless turn: no worker drains an inbox for it. */
const INBOX = {
  inboxId: textOrNull(),
  messageType: textOrNull(),
  contextHeaders: textOrNull(),
  payload: textOrNull(),
  wakeupHeaders: textOrNull(),
} as const;

/** The state for the next call of the session; null leaves it unchanged. Only the holder of the lease may set it. */
const SESSION = { sessionState: textOrNull() } as const;

const results = inputOf(RESULT);
const input = inputOf({ ...RESULT, ...INBOX, ...SESSION });

export type InboxPart = GivenOf<typeof INBOX>;

export interface SettleRow extends GivenOf<typeof RESULT>, InboxPart, GivenOf<typeof SESSION> {
  /** For the audit; no column of the statement. */
  readonly control?: ControlUse | undefined;
  /** What the card says, for callers that wait here; no column of the statement. */
  readonly content: ToolResultContent;
}

/** The answer for a call that this statement settled. */
export interface SettledRow {
  readonly ord: number;
  /** A limit held it: its slot is free. */
  readonly gated: boolean;
  /** The agent has no worker_target in the roster: the inbox row waits, and no worker was rung (W-38). */
  readonly unrung: boolean;
}

/** The calls that may be settled, from rows under the alias `i`. */
const settling = (source: string): string => `
  delete from state.live_calls c
   using ${source}
   where c.project_id = any (array[i.project_id]) and c.tool_call_id = i.tool_call_id
     and case i.mode
           when 'report' then ${inHands("i.lease_id")}
                and (c.standing_card_id is null or c.standing_card_id = i.result_card_id)
           when 'deny' then c.status = 'awaiting_approval'
           when 'expire' then c.lease_id is not distinct from i.lease_id and c.due_at <= now()
           else true
         end
  returning ${KEPT_OF_CALL}, c.gate, coalesce(i.lease_id, c.lease_id) as lease_id,
            i.ord, i.mode, i.dead, i.status, i.error_code, i.settled_by, i.result_card_id, i.result_hash, i.card_hash, i.card_body,
            i.agent_turn_id as card_turn_id, i.step_id as card_step_id, i.line_before, i.line_after`;

// The chain of a direct call: its card, the decision about it if it needed one, its result. No head is there to hold the end,
// so the settlement writes it; the row that is settled has what came before.
const BEFORE_RESULT = `case when approval_hash is null then chain_hash else ${linkOf("chain_hash", "approval_hash")} end`;

const INTO_THE_PAST = `
  insert into state.past_calls (${KEPT_COLUMNS}, lease_id, status, error_code, settled_by, settled_at, result_card_id, result_hash,
                                result_chain_seq, result_chain_hash)
  select ${KEPT_COLUMNS}, lease_id, status, error_code, settled_by, now(), result_card_id, result_hash,
         case when headless then case when approval_hash is null then 2 else 3 end end,
         case when headless then ${linkOf(BEFORE_RESULT, "card_hash")} end
    from won`;

// A card that is written here has an id made for this settlement, so there can be no conflict.
const WRITE_CARDS = `
  insert into cards.cards (project_id, card_id, type, author_id, tool_call_id, agent_turn_id, step_id, hash, body)
  select project_id, result_card_id, 'tool.result', settled_by, tool_call_id, card_turn_id, card_step_id, card_hash, card_body
    from won
   where card_body is not null`;

// A call ends with one event. That it was denied by a person is told before.
const TELL = tellOf(
  "won w",
  "w",
  [
    { phase: "approval_decided", status: "w.status", attempt: "w.attempts", when: "w.mode = 'deny'" },
    {
      phase: { sql: "case when w.dead then 'dead' when w.status = 'canceled' then 'canceled' else 'settled' end" },
      status: "w.status",
      attempt: "w.attempts",
      errorCode: "w.error_code",
    },
  ],
  givenParts("w"),
);

/**
 * For flushes of direct calls only, which have no inbox and no session. With those parts a flush of 16 cost 890 microseconds of
 * the server instead of 770.
 */
const settleDirect = (more: string): string => `
with won as (${settling(results.from)}
),${more}
settled as (${INTO_THE_PAST}
),
written as (${WRITE_CARDS}
),
told as (${TELL}
)
select ord::int as ord, gate is not null as gated, false as unrung from won`;

const SETTLE_DIRECT: Statement = { name: "calls.settle-direct", text: settleDirect("") };
/** Settles calls that another party ends. A service may still run them, so their slots are kept. */
const END_DIRECT: Statement = { name: "calls.end-direct", text: settleDirect(`${KEEP_SLOTS},`) };

// The delete returns all that the inserts need, and the answer asks by hashed subplans: no CTE is joined with another,
// which would be a nested loop under our settings (256 results a flush took 33 ms, 27 of them in such loops; now 6).
// A session has one leased call at a time, so no two rows of this or of another statement write its state.
// $next: the protocol version, first tokens of the wakeup's subject.
const settleAny = (more: string): string => `
with input as materialized (select * from ${input.from}),
won as (${settling("input i")},
            ${namesOf({ ...INBOX, ...SESSION }, "i")}
),${more}
settled as (${INTO_THE_PAST}
),
written as (${WRITE_CARDS}
),
told as (${TELL}
),
remembered as (
  insert into state.sessions (project_id, session, agent_id, target, state)
  select project_id, session, agent_id, target, session_state
    from won
   where session_state is not null and session is not null
  on conflict (project_id, session) do update set state = excluded.state, calls = sessions.calls + 1, updated_at = now()
),
landed as (
  insert into state.inbox (project_id, inbox_id, agent_id, channel_id, message_type, correlation_id, agent_turn_id, turn_epoch,
                           context_headers, payload)
  select project_id, inbox_id, agent_id, channel_id, message_type, tool_call_id, agent_turn_id, turn_epoch, context_headers, payload
    from won
   where not headless
  on conflict do nothing
),
called as materialized (
  select w.ord, w.project_id, w.agent_id, w.channel_id, w.wakeup_headers, w.inbox_id, a.worker_target
    from won w
    left join resource.agents a on a.project_id = any (array[w.project_id]) and a.agent_id = w.agent_id
   where not w.headless
),
rung as (
  insert into bus.messages (category, project_id, subject, component, target, headers, payload)
  select distinct on (project_id, agent_id)
         'cmd', project_id, 'cg.' || $${input.next}::text || '.' || project_id || '.' || channel_id || '.cmd.agent.' || worker_target || '.wakeup',
         'agent', worker_target, wakeup_headers, '{"inbox_id":"' || inbox_id || '"}'
    from called
   where worker_target is not null and (select kind = 'external' from bus.carrier)
   order by project_id, agent_id, ord
)
select ord::int as ord, gate is not null as gated, ord in (select ord from called where worker_target is null) as unrung from won`;

const SETTLE: Statement = { name: "calls.settle", text: settleAny("") };
const END: Statement = { name: "calls.end", text: settleAny(`${KEEP_SLOTS},`) };

const bindSettle = (rows: readonly SettleRow[], protocolVersion: string): unknown[] => [
  ...input.bind(rows),
  protocolVersion,
];

const isDirect = (row: SettleRow): boolean => row.inboxId === null && row.sessionState === null;

/**
 * The statement that settles these rows, with its values. Rows that have neither an inbox nor a session take the short one; whether a call
 * has them was decided when it was dispatched.
 */
export const settlementOf = (rows: readonly SettleRow[], protocolVersion: string): readonly [Statement, unknown[]] => {
  const isReported = rows.every(({ mode }) => mode === "report");
  return rows.every(isDirect)
    ? [isReported ? SETTLE_DIRECT : END_DIRECT, results.bind(rows)]
    : [isReported ? SETTLE : END, bindSettle(rows, protocolVersion)];
};
