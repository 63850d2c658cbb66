// How the children ended: read from their turns (BT3); when the batch closes, they are stopped (BT4).

import { isToolplaneError, type ResultStatus } from "@toolplane/protocol";
import type { Ground } from "../ports/ground.ts";
import type { Queryer } from "../sql/database.ts";
import type { AgentKey, StopRequest, Turns } from "../turns/turn.ts";
import { whenFree } from "../turns/when-free.ts";
import { type BatchKey, PMO_ACTOR } from "./batch.ts";
import {
  bindEnds,
  CANCEL_PENDING,
  END_TASKS,
  type EndedRow,
  LOCK_DISPATCHED,
  READ_DISPATCHED,
  READ_ENDED,
  TASK_STOPPED,
} from "./batch-tasks.sql.ts";
import { READ_STARVED } from "./batches.sql.ts";
import { type CloseReason, planTaskEnd } from "./plan-batch.ts";

export interface JoinTasksDeps extends Pick<Ground, "db" | "doorbell" | "faults" | "clock"> {
  readonly turns: Pick<Turns, "stop" | "ring">;
  /** Children that are stopped at once. */
  readonly atOnce: number;
}

export interface JoinTasks {
  /** Takes over the deliverables of children; true when there was any. */
  collect(key: BatchKey): Promise<boolean>;
  /** Gives up on children that no worker began; true when there was any. */
  dropStarved(key: BatchKey): Promise<boolean>;
  /** Cancels waiting tasks and stops running ones. */
  close(key: BatchKey, reason: CloseReason): Promise<void>;
}

/** Deliverables are read whole, and one may be a megabyte. */
const COLLECT_AT_ONCE = 32;

type StopReason = CloseReason | "downstream_unavailable";

const WORDS: Readonly<Record<StopReason, string>> = {
  downstream_unavailable: "stopped_by_pmo: no worker began the task in time",
  deadline_exceeded: "stopped_by_pmo: the batch reached its deadline",
  fail_fast: "stopped_by_pmo: another task of the batch failed",
  parent_ended: "stopped_by_pmo: the call that waited for the batch has ended",
};

export const createJoinTasks = (deps: JoinTasksDeps): JoinTasks => {
  const { db, faults } = deps;

  const collectSome = async ({ projectId, batchId }: BatchKey): Promise<number> => {
    const count = await db.transaction(async (tx) => {
      const rows = await tx.query<EndedRow>(READ_ENDED, [projectId, batchId, COLLECT_AT_ONCE]);
      if (rows.length === 0) return 0;
      const ends = rows.map((row) => {
        const end = planTaskEnd({
          status: row.status as ResultStatus,
          deliverableCardId: row.deliverable_card_id,
          deliverableBody: row.body,
          error: row.error,
          errorCode: row.error_code,
        });
        return {
          projectId,
          batchId,
          taskIndex: row.task_index,
          status: end.status,
          error: end.error,
          resultView: JSON.stringify(end.resultView),
          outputBoxId: row.output_box_id,
        };
      });
      await tx.query(END_TASKS, bindEnds(ends));
      await faults.at("join:before-commit");
      return rows.length;
    });
    if (count > 0) await faults.at("join:after-commit");
    return count;
  };

  const collect = async (key: BatchKey): Promise<boolean> => {
    let collected = false;
    for (let count = COLLECT_AT_ONCE; count === COLLECT_AT_ONCE; ) {
      count = await collectSome(key);
      collected ||= count > 0;
    }
    return collected;
  };

  /** A turn that retention deleted does not run, like one that was stopped. */
  const stopTurn = async (request: StopRequest, tx: Queryer): Promise<boolean> => {
    try {
      return (await deps.turns.stop(request, tx)).stopped;
    } catch (error) {
      if (isToolplaneError(error) && error.code === "not_found") return true;
      throw error;
    }
  };

  /** Stopping and recording it are one commit; a child that ended by itself meanwhile keeps its own end. */
  const stopOne = async ({ projectId, batchId }: BatchKey, taskIndex: number, reason: StopReason): Promise<void> => {
    const stop = async (tx: Queryer): Promise<AgentKey | undefined> => {
      const [row] = await tx.query<{ agent_turn_id: string; agent_id: string }>(LOCK_DISPATCHED, [
        projectId,
        batchId,
        taskIndex,
      ]);
      if (row === undefined) return undefined;
      const request = { projectId, agentTurnId: row.agent_turn_id, actorId: PMO_ACTOR, reason: WORDS[reason] };
      if (!(await stopTurn(request, tx))) return undefined;
      const status = reason === "downstream_unavailable" ? "failed" : "canceled";
      await tx.query(TASK_STOPPED, [projectId, batchId, taskIndex, status, reason]);
      await faults.at("halt:before-commit");
      return { projectId, agentId: row.agent_id };
    };
    const stopped = await whenFree(deps.clock, () => db.transaction(stop));
    if (stopped === undefined) return;
    await faults.at("halt:after-commit");
    deps.turns.ring([stopped], "stopped");
  };

  return {
    collect,
    async dropStarved(key) {
      const starved = await db.query<{ task_index: number }>(READ_STARVED, [key.projectId, key.batchId]);
      for (const { task_index } of starved) await stopOne(key, task_index, "downstream_unavailable");
      return starved.length > 0;
    },
    async close(key, reason) {
      await db.query(CANCEL_PENDING, [key.projectId, key.batchId, reason]);
      const running = await db.query<{ task_index: number }>(READ_DISPATCHED, [key.projectId, key.batchId]);
      const waiting = running.map(({ task_index }) => task_index);
      const stopChildren = async (): Promise<void> => {
        for (let index = waiting.shift(); index !== undefined; index = waiting.shift())
          await stopOne(key, index, reason);
      };
      await Promise.all(Array.from({ length: Math.min(deps.atOnce, waiting.length) }, stopChildren));
      await collect(key);
    },
  };
};
