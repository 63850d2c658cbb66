// Ends turns that would never end: their worker died too often, no worker ever came, or no row is left that leads on. Each is
// ended in a transaction of its own and decided again while the head is held: one bad turn never stops the others.

import { FALLBACK_SOURCES } from "@toolplane/protocol/agents";
import type { Queryer } from "../sql/database.ts";
import { announceEnd, type EndDeps, type EndedTurn, type EndTurn, type OutsideEnd } from "./end-turn.ts";
import { lockHeads } from "./held-heads.ts";
import { inboxChange } from "./plan-head.ts";
import { restoreHead } from "./restore-head.ts";
import { READ_ROW, type RowKey } from "./tend-turns.sql.ts";
import type { AgentKey, TurnKey } from "./turn.ts";
import type { HeadRow, TurnRow } from "./turn-row.ts";
import { createTurnWrites, writeTurns } from "./turn-writes.ts";
import { bindTurns, READ_TURNS } from "./turns.sql.ts";
import { whenFree } from "./when-free.ts";

export type ReapReason = "worn_out" | "never_taken" | "left_alone" | "lost_head" | "out_of_time";

const WATCHDOG = "worker.watchdog";

const howOf = (reason: ReapReason, head: HeadRow): OutsideEnd => {
  const begun = head.status !== "dispatched";
  const common = { source: FALLBACK_SOURCES.watchdog, by: WATCHDOG, stopped: false } as const;
  if (reason === "never_taken" && !begun)
    return {
      ...common,
      status: "timeout",
      error: "no worker took the turn in time: start one for the agent's pool",
      errorCode: "dispatch_timeout",
      headline: "no worker took the turn",
    };
  if (reason === "out_of_time")
    return {
      ...common,
      status: "timeout",
      error: "time_budget_reached (it waited for calls)",
      errorCode: "time_budget_reached",
      headline: "the turn's time was over while it waited for its calls",
    };
  if (reason === "lost_head")
    return {
      ...common,
      status: "failed",
      error: `the state of agent ${head.agent_id} is gone: what the turn waited for could not be applied, and it was given up`,
      errorCode: "resume_retry_exhausted",
      headline: "the turn lost its agent's state",
    };
  return {
    ...common,
    status: "failed",
    error:
      reason === "worn_out"
        ? "the workers on this turn died again and again; it was given up"
        : "no worker has the turn any more; it was given up",
    errorCode: "timeout_reaped_by_watchdog",
    headline: "the turn was given up",
  };
};

interface RowNow {
  readonly status: string;
  readonly lapsed: boolean;
  readonly agent_turn_id: string;
  readonly turn_epoch: number;
}

export interface ReapRequest extends AgentKey, TurnKey {
  readonly reason: ReapReason;
  /** The row that was found; absent when there is none. */
  readonly row?: RowKey | undefined;
}

export const createReap = (deps: EndDeps, { endActive, endQueued }: EndTurn) => {
  /** True when the turn was ended. */
  return async (request: ReapRequest): Promise<boolean> => {
    const { projectId, agentId, agentTurnId, reason, row } = request;
    const reap = async (tx: Queryer): Promise<EndedTurn | undefined> => {
      const [held] = await lockHeads(tx, [{ projectId, agentId }]);
      if (held === "locked") return undefined;
      const [turn] = await tx.query<TurnRow>(READ_TURNS, bindTurns([{ projectId, agentTurnId }]));
      if (turn?.status !== "active") return undefined;
      const head = held ?? (await restoreHead(tx, turn));
      if (row !== undefined) {
        const [now] = await tx.query<RowNow>(READ_ROW, [row.projectId, row.inboxId]);
        const open = reason === "worn_out" ? now?.status === "processing" && now.lapsed : now?.status === "pending";
        if (now === undefined || !open) return undefined;
        if (now.turn_epoch !== head.turn_epoch) {
          // Nothing leads on from this row any more; another row decides about the turn.
          const changes = [inboxChange(row, { status: "skipped", reason: "not_current" })];
          await writeTurns(tx, { ...createTurnWrites(), changes }, deps);
          return undefined;
        }
      }
      const how = howOf(reason, head);
      const ended =
        head.active_agent_turn_id === agentTurnId
          ? await endActive(tx, head, turn, how)
          : await endQueued(tx, turn, how);
      await deps.faults.at("reap:before-commit");
      return ended;
    };
    const done = await whenFree(deps.clock, () => deps.db.transaction(reap));
    if (done === undefined) return false;
    await deps.faults.at("reap:after-commit");
    announceEnd(deps, done);
    if (reason === "out_of_time") deps.log.info("a turn ended: its time was over", { projectId, agentTurnId });
    else deps.log.warn("a turn was given up", { projectId, agentTurnId, reason });
    return true;
  };
};

export type Reap = ReturnType<typeof createReap>;
