// The end of a batch: its status, the join edge and the settlement of the call that waited, in one commit (BT5). Whoever
// locks the batch's row ends it; everybody else finds it ended. A call that has ended without the batch stays as it is.

import type { JsonCaps, JsonObject } from "@toolplane/protocol";
import { type CallFacts, type CallStatus, isSettled } from "../calls/call.ts";
import { planSettlement } from "../calls/plan-settlement.ts";
import { bindKeys, READ_CALLS, type ViewRow, viewOf } from "../calls/read.sql.ts";
import { bindSettle, SETTLE, type SettledRow } from "../calls/settle.sql.ts";
import type { SettleWatch } from "../calls/settle-watch.ts";
import type { Sha256 } from "../calls/turn-chain.ts";
import type { CallObserver } from "../ports/call-observer.ts";
import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Faults } from "../ports/faults.ts";
import type { Ids } from "../ports/ids.ts";
import type { Database, Queryer } from "../sql/database.ts";
import { BATCH_MANAGER, type BatchKey, type TaskStatus } from "./batch.ts";
import { END_BATCH, JOIN_EDGE, LOCK_BATCH, READ_TASKS, type TaskRow } from "./batches.sql.ts";
import { type BatchResult, planBatchResult } from "./plan-batch.ts";

export interface EndBatchDeps {
  readonly db: Database;
  readonly watch: SettleWatch;
  readonly observe: CallObserver;
  readonly doorbell: Doorbell;
  readonly faults: Faults;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly sha256: Sha256;
  readonly caps: JsonCaps;
  readonly protocolVersion: string;
}

interface Ended {
  /** The call it settled; undefined when that had ended before. */
  readonly facts: CallFacts | undefined;
  readonly status: CallStatus;
}

const OPEN: ReadonlySet<string> = new Set(["pending", "dispatched"]);

export const createEndBatch = (deps: EndBatchDeps): ((key: BatchKey) => Promise<boolean>) => {
  const { db, faults } = deps;

  const settle = async (
    tx: Queryer,
    key: BatchKey,
    toolCallId: string,
    plan: BatchResult,
  ): Promise<CallFacts | undefined> => {
    const [row] = await tx.query<ViewRow>(READ_CALLS, bindKeys([{ projectId: key.projectId, toolCallId }]));
    const call = row === undefined ? undefined : viewOf(row);
    if (call === undefined || isSettled(call.status)) return undefined;
    const settlement = planSettlement(
      {
        facts: call,
        mode: "report",
        leaseId: key.batchId,
        actorId: BATCH_MANAGER,
        messageType: "tool_result",
        outcome: { given: { status: plan.status, result: plan.result, error: plan.error } },
      },
      { ...deps, now: new Date(deps.clock.now()).toISOString() },
    );
    const [settled] = await tx.query<SettledRow>(SETTLE, bindSettle([settlement], deps.protocolVersion));
    return settled?.won === true ? call : undefined;
  };

  const end = async (tx: Queryer, key: BatchKey): Promise<Ended | undefined> => {
    const { projectId, batchId } = key;
    const [batch] = await tx.query<{ fail_fast: boolean; parent_tool_call_id: string }>(LOCK_BATCH, [
      projectId,
      batchId,
    ]);
    if (batch === undefined) return undefined;
    const rows = await tx.query<TaskRow>(READ_TASKS, [projectId, batchId]);
    if (rows.some(({ status }) => OPEN.has(status))) return undefined;
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
    const facts = await settle(tx, key, batch.parent_tool_call_id, plan);
    await faults.at("batch:before-commit");
    return { facts, status: plan.status };
  };

  return async (key) => {
    const ended = await db.transaction((tx) => end(tx, key));
    if (ended === undefined) return false;
    await faults.at("batch:after-commit");
    const { facts, status } = ended;
    if (facts !== undefined) {
      deps.watch.settled(facts);
      deps.observe({ ...facts, status });
      deps.doorbell.ring("settled");
      if (!facts.headless) deps.doorbell.ring("messages");
    }
    return true;
  };
};
