// The batch manager: moves batches on until they end. No process is in charge: every process may look at every batch, and locks
// decide which one acts. What one look misses, the next one sees (see batch.ts for the rules).

import { isToolplaneError, type JsonObject, understandError } from "@toolplane/protocol";
import type { Queryer } from "../sql/database.ts";
import type { EndedKey, Turns } from "../turns/turn.ts";
import type { BatchKey, BatchStatus, BatchView, NewBatch, TaskStatus } from "./batch.ts";
import { isTaskName } from "./batch.ts";
import {
  type BatchRow,
  READ_BATCH,
  READ_BATCH_OF_TURN,
  READ_DUE_BATCHES,
  READ_TASKS,
  type TaskRow,
} from "./batches.sql.ts";
import { createDispatchTasks, type DispatchTasksDeps } from "./dispatch-tasks.ts";
import { createEndBatch, type EndBatchDeps } from "./end-batch.ts";
import { createJoinTasks, type JoinTasksDeps } from "./join-tasks.ts";
import { openBatch } from "./open-batch.ts";
import { planClosing } from "./plan-batch.ts";

export interface BatchSweep {
  /** Batches that were looked at. */
  readonly looked: number;
  /** Those of them that could not be moved on. */
  readonly failed: number;
}

export interface Batches {
  /** Stores a batch and takes over its call, in the caller's transaction; call `advance` after the commit. */
  open(batch: NewBatch, tx: Queryer): Promise<void>;
  /** Moves a batch on as far as it can go now; resolves when it has ended or has to wait. */
  advance(key: BatchKey): Promise<void>;
  /** A turn has ended: if it is a child of a batch, that batch is moved on. */
  turnEnded(projectId: string, agentTurnId: string): Promise<void>;
  /** The same, for turns this process has ended: only children are looked up, and a failure is left to the next look. */
  follow(turn: EndedKey): void;
  /** One bounded look at all batches that are due; the watchdog does it by itself. */
  sweep(limit?: number): Promise<BatchSweep>;
  get(key: BatchKey): Promise<BatchView | undefined>;
  /** Resolves when nothing of this process moves a batch. */
  drain(): Promise<void>;
}

export interface BatchesDeps extends Omit<DispatchTasksDeps, "turns">, Omit<JoinTasksDeps, "turns">, EndBatchDeps {
  readonly turns: Pick<Turns, "spawn" | "stop" | "ring">;
}

const SWEEP_LIMIT = 50;
/** Each round makes, stops or collects something; more rounds than this are left to the next look. */
const MAX_ROUNDS = 100;

const keyText = ({ projectId, batchId }: BatchKey): string => `${projectId}/${batchId}`;

export const createBatches = (deps: BatchesDeps): Batches => {
  const { db, log } = deps;
  const dispatch = createDispatchTasks(deps);
  const join = createJoinTasks(deps);
  const end = createEndBatch(deps);
  /** Batches that this process is moving; true when another request came meanwhile. */
  const moving = new Map<string, { again: boolean; readonly done: Promise<void> }>();

  const read = async ({ projectId, batchId }: BatchKey): Promise<BatchRow | undefined> =>
    (await db.query<BatchRow>(READ_BATCH, [projectId, batchId]))[0];

  /** True when another round may find more to do. */
  const round = async (key: BatchKey): Promise<boolean> => {
    await join.collect(key);
    const batch = await read(key);
    if (batch === undefined || batch.ended_at !== null) return false;
    const open = batch.pending + batch.dispatched;
    if (open === 0) {
      await end(key);
      return false;
    }
    const reason = planClosing({
      failFast: batch.fail_fast,
      overdue: batch.overdue,
      parentEnded: batch.parent_ended,
      bad: batch.bad,
      open,
    });
    if (reason !== undefined) {
      await join.close(key, reason);
      await end(key);
      return false;
    }
    const dropped = batch.fail_fast && (await join.dropStarved(key));
    const dispatched = batch.due > 0 && (await dispatch(key, batch));
    return dropped || dispatched;
  };

  const move = async (key: BatchKey): Promise<void> => {
    for (let rounds = 0; rounds < MAX_ROUNDS && (await round(key)); ) rounds++;
  };

  const advance = async (key: BatchKey): Promise<void> => {
    const name = keyText(key);
    const known = moving.get(name);
    if (known !== undefined) {
      known.again = true;
      return known.done;
    }
    const work = async (): Promise<void> => {
      try {
        for (;;) {
          await move(key);
          const entry = moving.get(name);
          if (entry === undefined || !entry.again) return;
          entry.again = false;
        }
      } finally {
        moving.delete(name);
      }
    };
    const done = Promise.resolve().then(work);
    moving.set(name, { again: false, done });
    return done;
  };

  /** A batch that cannot be moved does not hold up others; it is due again at the next look. */
  const tryAdvance = async (key: BatchKey): Promise<boolean> => {
    try {
      await advance(key);
      return true;
    } catch (thrown) {
      const error = understandError(thrown);
      log.error("a batch could not be moved on; trying again", { ...key, code: error.code, reason: error.message });
      return false;
    }
  };

  const followed = new Set<Promise<void>>();

  const turnEnded = async (projectId: string, agentTurnId: string): Promise<void> => {
    const rows = await db.query<{ batch_id: string }>(READ_BATCH_OF_TURN, [projectId, agentTurnId]);
    for (const { batch_id } of rows) await advance({ projectId, batchId: batch_id });
  };

  return {
    open: openBatch,
    advance,
    turnEnded,
    follow({ projectId, agentTurnId, correlationId }) {
      if (!isTaskName(correlationId)) return;
      const following = turnEnded(projectId, agentTurnId)
        .catch((error: unknown) => {
          const code = isToolplaneError(error) ? error.code : "internal_error";
          log.warn("a batch was not told that a task has ended; it is looked at soon", { agentTurnId, code });
        })
        .finally(() => followed.delete(following));
      followed.add(following);
    },
    async sweep(limit = SWEEP_LIMIT) {
      const due = await db.query<{ project_id: string; batch_id: string }>(READ_DUE_BATCHES, [limit]);
      let failed = 0;
      for (const row of due) if (!(await tryAdvance({ projectId: row.project_id, batchId: row.batch_id }))) failed++;
      return { looked: due.length, failed };
    },
    async get(key) {
      const batch = await read(key);
      if (batch === undefined) return undefined;
      const tasks = await db.query<TaskRow>(READ_TASKS, [key.projectId, key.batchId]);
      return {
        ...key,
        status: batch.status as BatchStatus,
        parentToolCallId: batch.parent_tool_call_id,
        failFast: batch.fail_fast,
        deadlineAt: batch.deadline_at,
        endedAt: batch.ended_at,
        tasks: tasks.map((row) => ({
          taskIndex: row.task_index,
          status: row.status as TaskStatus,
          agentId: row.agent_id,
          agentTurnId: row.agent_turn_id,
          outputBoxId: row.output_box_id,
          attempts: row.attempts,
          error: row.error,
          resultView: row.result_view === null ? null : (JSON.parse(row.result_view) as JsonObject),
        })),
      };
    },
    async drain() {
      await Promise.all(followed);
      await Promise.allSettled([...moving.values()].map(({ done }) => done));
    },
  };
};
