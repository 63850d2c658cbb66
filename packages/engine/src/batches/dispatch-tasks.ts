// Gives the tasks of a batch to their agents, several at once. The child's turn and the task's record of it are one commit
// (BT2); a refusal is stored, and the next attempt waits longer.

import { HEADERS, type JsonObject, understandError } from "@toolplane/protocol";
import { createParentPointerCard } from "@toolplane/protocol/agents";
import type { Delegation } from "../delegation/delegation.ts";
import type { Ground } from "../ports/ground.ts";
import type { Queryer } from "../sql/database.ts";
import type { SpawnedTurn, SpawnRequest, Turns } from "../turns/turn.ts";
import { type BatchKey, batchTaskIdOf, PMO_ACTOR } from "./batch.ts";
import { CLAIM_TASK, type ClaimedTaskRow, TASK_DISPATCHED, TASK_REFUSED } from "./batch-tasks.sql.ts";
import type { BatchRow } from "./batches.sql.ts";
import type { StoredTask } from "./open-batch.ts";
import { planDispatchFailure } from "./plan-batch.ts";

export interface DispatchTasksDeps extends Pick<Ground, "db" | "faults" | "clock" | "ids" | "log"> {
  readonly turns: Pick<Turns, "spawn" | "ring">;
  readonly delegation: Pick<Delegation, "chooseOutputBox">;
  /** Children that are made at once. */
  readonly atOnce: number;
}

type Attempt = "made" | "refused" | "none";

const traceOf = (headers: string | null): { traceparent?: string; tracestate?: string } => {
  if (headers === null) return {};
  const sent = JSON.parse(headers) as Readonly<Record<string, string>>;
  const traceparent = sent[HEADERS.traceparent];
  const tracestate = sent[HEADERS.tracestate];
  return {
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(tracestate === undefined ? {} : { tracestate }),
  };
};

export const createDispatchTasks = (deps: DispatchTasksDeps) => {
  const { db, faults, ids } = deps;

  const pointer = (projectId: string, batch: BatchRow, packedBy: string) =>
    createParentPointerCard({
      cardId: ids.uuid(),
      projectId,
      createdAt: new Date(deps.clock.now()).toISOString(),
      authorId: packedBy,
      parentAgentId: batch.parent_agent_id,
    });

  const requestOf = async (
    { projectId, batchId }: BatchKey,
    batch: BatchRow,
    claimed: ClaimedTaskRow,
    tx: Queryer,
  ): Promise<SpawnRequest> => {
    const task = JSON.parse(claimed.task) as StoredTask;
    const { agent_id: agentId, task_index: taskIndex } = claimed;
    const outputBoxId =
      task.targetStrategy === "reuse" ? await deps.delegation.chooseOutputBox(projectId, agentId, tx) : undefined;
    const metadata: JsonObject = { batch_id: batchId, task_index: taskIndex, task_label: task.label };
    return {
      projectId,
      agentId,
      sourceAgentId: PMO_ACTOR,
      context: {
        inheritBoxIds: task.inheritBoxIds,
        packedBy: task.packedBy,
        instruction: task.instruction,
        cards: [pointer(projectId, batch, task.packedBy)],
      },
      profileBoxId: task.profileBoxId,
      outputBoxId,
      channelId: batch.channel_id ?? undefined,
      correlationId: batchTaskIdOf(batchId, taskIndex),
      metadata,
      ...traceOf(batch.headers),
      freshTrace: true,
      lineage: {
        agentId: batch.parent_agent_id,
        agentTurnId: batch.parent_agent_turn_id,
        stepId: batch.parent_step_id ?? undefined,
      },
    };
  };

  const refuse = async (key: BatchKey, claimed: ClaimedTaskRow, thrown: unknown): Promise<void> => {
    const error = understandError(thrown);
    const { task_index: taskIndex, attempts } = claimed;
    const plan = planDispatchFailure(error, attempts + 1);
    deps.log.warn("a task of a batch could not be given to its agent", {
      batch: key.batchId,
      task: taskIndex,
      code: error.code,
      reason: error.message,
    });
    const [status, seconds] = plan.act === "retry" ? ["pending", plan.seconds] : ["failed", 0];
    await db.query(TASK_REFUSED, [key.projectId, key.batchId, taskIndex, attempts, status, plan.error, seconds]);
  };

  const dispatchOne = async (key: BatchKey, batch: BatchRow): Promise<Attempt> => {
    let claimed: ClaimedTaskRow | undefined;
    let child: SpawnedTurn | undefined;
    try {
      await db.transaction(async (tx) => {
        [claimed] = await tx.query<ClaimedTaskRow>(CLAIM_TASK, [key.projectId, key.batchId]);
        if (claimed === undefined) return;
        child = await deps.turns.spawn(await requestOf(key, batch, claimed, tx), tx);
        await tx.query(TASK_DISPATCHED, [
          key.projectId,
          key.batchId,
          claimed.task_index,
          child.agentTurnId,
          child.outputBoxId,
        ]);
        await faults.at("child:before-commit");
      });
    } catch (thrown) {
      if (claimed === undefined) throw thrown;
      await refuse(key, claimed, thrown);
      return "refused";
    }
    if (child === undefined) return "none";
    await faults.at("child:after-commit");
    deps.turns.ring([child], "spawned");
    return "made";
  };

  /** True when any task changed. */
  return async (key: BatchKey, batch: BatchRow): Promise<boolean> => {
    let changed = false;
    const makeChildren = async (): Promise<void> => {
      while ((await dispatchOne(key, batch)) !== "none") changed = true;
    };
    await Promise.all(Array.from({ length: Math.min(deps.atOnce, batch.due) }, makeChildren));
    return changed;
  };
};
