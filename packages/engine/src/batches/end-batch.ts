// The end of a batch: its status, the join edge and the settlement of the waiting call, in one commit (BT5). The process that
// locks the batch's row ends it; all others find it ended. A call that has ended without the batch stays as it is.

import type { JsonObject } from "@toolplane/protocol";
import { isSettled } from "../calls/call.ts";
import { bindKeys, READ_CALLS, type ViewRow, viewOf } from "../calls/read.sql.ts";
import type { Settlements } from "../calls/settlements.ts";
import type { Ground } from "../ports/ground.ts";
import type { Queryer } from "../sql/database.ts";
import { BATCH_MANAGER, type BatchKey, type TaskStatus } from "./batch.ts";
import { END_BATCH, JOIN_EDGE, LOCK_BATCH, READ_TASKS, type TaskRow } from "./batches.sql.ts";
import { type BatchResult, planBatchResult } from "./plan-batch.ts";

export interface EndBatchDeps extends Pick<Ground, "db" | "faults"> {
  readonly settlements: Settlements;
}

const OPEN: ReadonlySet<string> = new Set(["pending", "dispatched"]);

export const createEndBatch = (deps: EndBatchDeps): ((key: BatchKey) => Promise<boolean>) => {
  const { db, faults } = deps;

  const settle = async (tx: Queryer, key: BatchKey, toolCallId: string, plan: BatchResult): Promise<void> => {
    const [row] = await tx.query<ViewRow>(READ_CALLS, bindKeys([{ projectId: key.projectId, toolCallId }]));
    const call = row === undefined ? undefined : viewOf(row);
    if (call === undefined || isSettled(call.status)) return;
    const planned = deps.settlements.plan({
      facts: call,
      mode: "report",
      leaseId: key.batchId,
      actorId: BATCH_MANAGER,
      messageType: "tool_result",
      outcome: { given: { status: plan.status, result: plan.result, error: plan.error } },
    });
    await deps.settlements.within(tx, [planned]);
  };

  const end = async (tx: Queryer, key: BatchKey): Promise<boolean> => {
    const { projectId, batchId } = key;
    const [batch] = await tx.query<{ fail_fast: boolean; parent_tool_call_id: string }>(LOCK_BATCH, [
      projectId,
      batchId,
    ]);
    if (batch === undefined) return false;
    const rows = await tx.query<TaskRow>(READ_TASKS, [projectId, batchId]);
    if (rows.some(({ status }) => OPEN.has(status))) return false;
    const tasks = rows.map((row) => ({
      taskIndex: row.task_index,
      status: row.status as TaskStatus,
      agentId: row.agent_id,
      outputBoxId: row.output_box_id,
      error: row.error,
      resultView: row.result_view === null ? null : (JSON.parse(row.result_view) as JsonObject),
    }));
    const plan = planBatchResult(batchId, tasks, batch.fail_fast);
    await tx.query(END_BATCH, [projectId, batchId, plan.status]);
    await tx.query(JOIN_EDGE, [
      projectId,
      `edge_${batchId}_res`,
      "response",
      BATCH_MANAGER,
      batchId,
      JSON.stringify({ status: plan.status }),
      batch.parent_tool_call_id,
    ]);
    await settle(tx, key, batch.parent_tool_call_id, plan);
    await faults.at("batch:before-commit");
    return true;
  };

  return async (key) => {
    const ended = await db.transaction((tx) => end(tx, key));
    if (ended) await faults.at("batch:after-commit");
    return ended;
  };
};
