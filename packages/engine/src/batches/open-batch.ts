// Stores a batch with all its tasks, and hands the call that asked for it over to the batch (BT1).

import { ToolplaneError } from "@toolplane/protocol";
import { parkCall } from "../calls/park.ts";
import type { Queryer } from "../sql/database.ts";
import { type BatchTaskAsk, type NewBatch, PMO_ACTOR } from "./batch.ts";
import { bindNewTasks, JOIN_EDGE, OPEN_BATCH, OPEN_TASKS } from "./batches.sql.ts";

/** What a task keeps of its request, as text. */
export interface StoredTask extends Omit<BatchTaskAsk, "agentId"> {
  readonly label: string;
  readonly packedBy: string;
}

/**
 * The deadline ends a batch; stopping its children and settling its call takes a moment longer, and must be finished before the
 * watchdog takes the call for abandoned.
 */
const CLOSING_GRACE_SECONDS = 60;

export const batchHolder = (batchId: string): string => `batch:${batchId}`;

const storedTask = ({ agentId: _, ...ask }: BatchTaskAsk, index: number, packedBy: string): StoredTask => ({
  label: `task_${index}`,
  packedBy,
  ...ask,
});

export const openBatch = async (batch: NewBatch, tx: Queryer): Promise<void> => {
  const { projectId, batchId, toolCallId, leaseId, tasks, deadlineSeconds } = batch;
  if (tasks.length === 0) throw new ToolplaneError("bad_request", "a batch has at least one task");
  await tx.query(OPEN_BATCH, [
    projectId,
    batchId,
    toolCallId,
    batch.agentId,
    batch.agentTurnId,
    batch.stepId,
    batch.failFast,
    deadlineSeconds,
  ]);
  const rows = tasks.map((ask, taskIndex) => ({
    projectId,
    batchId,
    taskIndex,
    agentId: ask.agentId,
    task: JSON.stringify(storedTask(ask, taskIndex, batch.toolName)),
  }));
  await tx.query(OPEN_TASKS, bindNewTasks(rows));
  const metadata = JSON.stringify({ task_count: tasks.length, fail_fast: batch.failFast });
  await tx.query(JOIN_EDGE, [projectId, `edge_${batchId}_req`, "request", PMO_ACTOR, batchId, metadata, toolCallId]);
  const seconds = deadlineSeconds + CLOSING_GRACE_SECONDS;
  await parkCall(tx, { projectId, toolCallId, leaseId, newLeaseId: batchId, newHolder: batchHolder(batchId), seconds });
};
