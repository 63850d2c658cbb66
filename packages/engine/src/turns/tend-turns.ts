// Repairs turns, in bounded sweeps that any number of processes may run at once, on the database's clock alone.
//
//   lapsed   work whose worker fell silent is offered to others; after so many times the turn is given up
//   unheard  rows that no worker took are rung again, less and less often, without a second row (W-06). A turn that no worker
//            took for the whole dispatch timeout is rung one last time and then ended: a machine that was off, or a pool that was not
//            started, still finds its queue
//   open     turns that nothing leads on: all results are there but not applied (W-08), running without a row, adrift, or queued
//            before an idle agent. A turn whose head is gone ends after everything that came for it was tried
// A row that cannot be read becomes `error` with the reason, and the third sweep finds its turn.

import { createContext, HEADERS, type WakeupReason } from "@toolplane/protocol";
import { wakeupHeaders } from "../outbox/wakeup-headers.ts";
import type { Queryer, Statement } from "../sql/database.ts";
import { isAway } from "../sql/database-error.ts";
import { announce, type TurnDeps } from "./held-heads.ts";
import { RESULTS, replayFault } from "./plan-advance.ts";
import { inboxChange } from "./plan-head.ts";
import type { Reap, ReapReason, ReapRequest } from "./reap.ts";
import {
  BREAK_ROWS,
  type BrokenRow,
  bindBroken,
  bindRows,
  COUNT_RINGS,
  type DueRow,
  FIRST_TURN,
  type OpenTurn,
  POSTPONE_ROW,
  READ_LAPSED,
  READ_LAPSED_KEYS,
  READ_OPEN_TURNS,
  READ_UNHEARD,
  READ_UNHEARD_KEYS,
  type RowKey,
} from "./tend-turns.sql.ts";
import type { AgentKey, TurnKey } from "./turn.ts";
import type { Wakeup } from "./turn-write-rows.sql.ts";
import { createTurnWrites, writeTurns } from "./turn-writes.ts";

export interface TendPolicy {
  readonly maxClaims: number;
  /** Null: a turn waits for a worker for ever. */
  readonly dispatchTimeoutSeconds: number | null;
}

export interface Tended {
  readonly looked: number;
  readonly requeued: number;
  readonly rung: number;
  readonly broken: number;
  readonly reaped: number;
  readonly resumed: number;
}

export interface TendTurns {
  lapsed(limit: number): Promise<Tended>;
  unheard(limit: number): Promise<Tended>;
  /** One pass over all open turns, `limit` at a time. */
  open(limit: number): Promise<Tended>;
}

export interface TendDeps extends TurnDeps {
  readonly policy: TendPolicy;
  readonly reap: Reap;
  readonly advance: (agent: AgentKey) => Promise<unknown>;
  readonly dispatchNext: (agent: AgentKey) => Promise<boolean>;
}

/** One kind of row: how rows are found, what is decided, and what is done with those that go on. */
interface RowSweep {
  readonly read: Statement;
  readonly keys: Statement;
  readonly decide: (row: DueRow) => "again" | ReapRequest;
  readonly again: (tx: Queryer, rows: readonly DueRow[]) => Promise<void>;
}

const TRACE_HEADERS = [HEADERS.traceparent, HEADERS.tracestate, HEADERS.parentTraceparent] as const;

const BROKEN_RECHECK_SECONDS = 60;

const REAPED_FOR: Readonly<Record<string, ReapReason>> = { lost: "lost_head", late: "out_of_time" };

const NOTHING: Tended = { looked: 0, requeued: 0, rung: 0, broken: 0, reaped: 0, resumed: 0 };

const add = (a: Tended, b: Partial<Tended>): Tended => ({
  looked: a.looked + (b.looked ?? 0),
  requeued: a.requeued + (b.requeued ?? 0),
  rung: a.rung + (b.rung ?? 0),
  broken: a.broken + (b.broken ?? 0),
  reaped: a.reaped + (b.reaped ?? 0),
  resumed: a.resumed + (b.resumed ?? 0),
});

const keyOf = (row: DueRow): RowKey => ({ projectId: row.project_id, inboxId: row.inbox_id });

const reasonOf = (row: DueRow): WakeupReason => {
  if (row.status === "deferred") return "watchdog_due_deferred";
  return row.message_type === "turn" ? "watchdog_retransmit" : "watchdog_pending_inbox";
};

const brokenOf = (row: DueRow, fault: string, at: string): BrokenRow => {
  let payload: object = {};
  try {
    const stored: unknown = JSON.parse(row.payload);
    if (typeof stored === "object" && stored !== null && !Array.isArray(stored)) payload = stored;
  } catch {
    // Text that is not JSON is dropped: the row is shown to people as JSON.
  }
  const why = { watchdog_error: "invalid_replay_context", watchdog_at: at, watchdog_detail: fault };
  return { ...keyOf(row), error: fault, payload: JSON.stringify({ ...payload, ...why }) };
};

export const createTendTurns = (deps: TendDeps): TendTurns => {
  const { policy } = deps;

  const wakeup = (row: DueRow, reason: WakeupReason): Wakeup => {
    const headers = JSON.parse(row.context_headers) as Record<string, string>;
    const context = createContext({
      projectId: row.project_id,
      agentId: row.agent_id,
      channelId: row.channel_id,
      agentTurnId: row.agent_turn_id,
      turnEpoch: row.turn_epoch,
      headers: Object.fromEntries(TRACE_HEADERS.map((name) => [name, headers[name] ?? ""])),
    });
    return {
      projectId: row.project_id,
      agentId: row.agent_id,
      channelId: row.channel_id,
      headers: wakeupHeaders(context, { ids: deps.ids, nowMs: deps.clock.now() }),
      payload: JSON.stringify({ inbox_id: row.inbox_id, reason }),
      // One bell that was not heard yet is enough: a pool without workers must not collect thousands.
      messageId: `watchdog:wakeup:${row.agent_id}`,
    };
  };

  const sort = (rows: readonly DueRow[]) => {
    const at = new Date(deps.clock.now()).toISOString();
    const broken: BrokenRow[] = [];
    const sound: DueRow[] = [];
    for (const row of rows) {
      const agent = { projectId: row.project_id, agentId: row.agent_id };
      const fault = replayFault(agent, { ...row, ord: 0, claim_id: null, created_ms: 0 }, deps.ids);
      if (fault === undefined) sound.push(row);
      else broken.push(brokenOf(row, fault, at));
    }
    return { broken, sound };
  };

  /** One bell per agent, for its oldest row. */
  const bellsOf = (rows: readonly DueRow[]): readonly Wakeup[] => [
    ...new Map(
      [...rows].reverse().map((row) => [`${row.project_id}/${row.agent_id}`, wakeup(row, reasonOf(row))]),
    ).values(),
  ];

  const breakRows = async (tx: Queryer, broken: readonly BrokenRow[]): Promise<void> => {
    if (broken.length > 0) await tx.query(BREAK_ROWS, bindBroken(broken));
    for (const { projectId, inboxId, error } of broken)
      deps.log.error("an inbox row cannot be read; it was set aside", { projectId, inboxId, error });
  };

  const reapAll = async (requests: readonly ReapRequest[]): Promise<number> => {
    let reaped = 0;
    for (const request of requests) {
      try {
        if (await deps.reap(request)) reaped++;
      } catch (error) {
        const { projectId, agentTurnId } = request;
        deps.log.error("a turn cannot be ended; it is tried again", { projectId, agentTurnId, error: String(error) });
      }
    }
    return reaped;
  };

  const reapOf = (row: DueRow, reason: ReapRequest["reason"]): ReapRequest => ({
    projectId: row.project_id,
    agentId: row.agent_id,
    agentTurnId: row.agent_turn_id,
    reason,
    row: keyOf(row),
  });

  /** Rows are locked, sorted and written together; turns that must end are ended afterwards, each alone. */
  const sweepOnce = async ({ read, decide, again }: RowSweep, limit: number, only?: RowKey): Promise<Tended> => {
    const done = await deps.db.transaction(async (tx) => {
      const rows = await tx.query<DueRow>(read, [limit, only?.projectId ?? null, only?.inboxId ?? null]);
      const { broken, sound } = sort(rows);
      const decided = sound.map((row) => ({ row, act: decide(row) }));
      const kept = decided.flatMap(({ row, act }) => (act === "again" ? [row] : []));
      await breakRows(tx, broken);
      if (kept.length > 0) await again(tx, kept);
      const writes = { ...createTurnWrites(), wakeups: [...bellsOf(kept)] };
      const written = await writeTurns(tx, writes, deps);
      if (rows.length > 0) await deps.faults.at("reap:before-commit");
      return { rows, broken, kept, written, reaps: decided.flatMap(({ act }) => (act === "again" ? [] : [act])) };
    });
    if (done.rows.length > 0) await deps.faults.at("reap:after-commit");
    announce(deps, { ended: [], rang: deps.external && done.kept.length > 0, ...done.written });
    const reaped = await reapAll(done.reaps);
    return { ...NOTHING, looked: done.rows.length, broken: done.broken.length, rung: done.kept.length, reaped };
  };

  /** A failed sweep is repeated row by row; a row that fails alone is left for later. */
  const sweepRows = async (sweep: RowSweep, limit: number): Promise<Tended> => {
    try {
      return await sweepOnce(sweep, limit);
    } catch (error) {
      if (isAway(error)) throw error;
    }
    let total = NOTHING;
    for (const row of await deps.db.query<Pick<DueRow, "project_id" | "inbox_id">>(sweep.keys, [limit])) {
      const key = { projectId: row.project_id, inboxId: row.inbox_id };
      try {
        total = add(total, await sweepOnce(sweep, 1, key));
      } catch (error) {
        if (isAway(error)) throw error;
        deps.log.error("an inbox row could not be repaired; trying again later", { ...key, error: String(error) });
        await deps.db.query(POSTPONE_ROW, [key.projectId, key.inboxId, BROKEN_RECHECK_SECONDS]);
        total = add(total, { looked: 1 });
      }
    }
    return total;
  };

  const requeue = async (tx: Queryer, rows: readonly DueRow[]): Promise<void> => {
    const changes = rows.map((row) =>
      inboxChange(keyOf(row), { status: "pending", retries: 1, reason: "claim_lapsed" }),
    );
    await writeTurns(tx, { ...createTurnWrites(), changes }, deps);
  };

  const countRings = async (tx: Queryer, rows: readonly DueRow[]): Promise<void> => {
    await tx.query(COUNT_RINGS, bindRows(rows.map(keyOf)));
  };

  const isOverdue = (row: DueRow): boolean =>
    policy.dispatchTimeoutSeconds !== null &&
    row.status === "pending" &&
    !RESULTS.has(row.message_type) &&
    row.rung_after_seconds !== null &&
    row.rung_after_seconds >= policy.dispatchTimeoutSeconds;

  const tendOpen = async (turn: OpenTurn): Promise<Partial<Tended>> => {
    const agent = { projectId: turn.project_id, agentId: turn.agent_id };
    if (turn.trouble === "resume") {
      await deps.advance(agent);
      return { resumed: 1 };
    }
    if (turn.trouble === "dispatch") return { resumed: (await deps.dispatchNext(agent)) ? 1 : 0 };
    const reason = REAPED_FOR[turn.trouble ?? ""] ?? "left_alone";
    const request = { ...agent, agentTurnId: turn.agent_turn_id, reason };
    return { reaped: await reapAll([request]) };
  };

  return {
    async lapsed(limit) {
      const decide = (row: DueRow) =>
        row.retry_count + 1 >= policy.maxClaims ? reapOf(row, "worn_out") : ("again" as const);
      const done = await sweepRows({ read: READ_LAPSED, keys: READ_LAPSED_KEYS, decide, again: requeue }, limit);
      return { ...done, requeued: done.rung };
    },
    unheard(limit) {
      const decide = (row: DueRow) => (isOverdue(row) ? reapOf(row, "never_taken") : ("again" as const));
      return sweepRows({ read: READ_UNHEARD, keys: READ_UNHEARD_KEYS, decide, again: countRings }, limit);
    },
    async open(limit) {
      let total = NOTHING;
      let after: TurnKey = FIRST_TURN;
      for (;;) {
        const turns = await deps.db.query<OpenTurn>(READ_OPEN_TURNS, [after.projectId, after.agentTurnId, limit]);
        for (const turn of turns.filter(({ trouble }) => trouble !== null)) {
          if (turn.trouble !== "late")
            deps.log.warn("a turn that was stuck goes on again", {
              projectId: turn.project_id,
              agentTurnId: turn.agent_turn_id,
              trouble: turn.trouble,
            });
          total = add(total, await tendOpen(turn));
        }
        total = add(total, { looked: turns.length });
        const last = turns.at(-1);
        if (last === undefined || turns.length < limit) return total;
        after = { projectId: last.project_id, agentTurnId: last.agent_turn_id };
      }
    },
  };
};
