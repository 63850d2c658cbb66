// fork_join: every task is checked before any child exists; then the agents, the batch and the hand-over of the call are one
// commit. The result comes when the batch ends; until then the batch holds the call.

import {
  type AgentWrite,
  type BatchTaskAsk,
  batchHolder,
  batchIdOf,
  batchTaskIdOf,
  derivedUuid,
  type HeldCall,
  type Queryer,
} from "@toolplane/engine";
import { isToolplaneError, type JsonObject, ToolplaneError } from "@toolplane/protocol";
import { type DeferredCall, deferCall } from "@toolplane/sdk";
import { agentWriteOf, type PmoMeans, readFor } from "./delegate.ts";
import { type PlannedTarget, planTarget } from "./plan-target.ts";
import { type ForkJoinAsk, parseForkJoin } from "./pmo-arguments.ts";
import { derivedAgentId, type PmoCall } from "./pmo-call.ts";

/** A caller that waits longer has forgotten the call. */
const MAX_DEADLINE_SECONDS = 7 * 86_400;

const invalid = (path: string, reason: string, code: ToolplaneError["code"] = "bad_request"): ToolplaneError =>
  new ToolplaneError(code, `fork_join: invalid args.${path}: ${reason}`);

/** `usual`: when the caller names no deadline; 0 or less: the longest there is. */
const deadlineOf = ({ deadlineSeconds }: ForkJoinAsk, usual: number): number => {
  if (deadlineSeconds === undefined) return usual > 0 ? Math.min(usual, MAX_DEADLINE_SECONDS) : MAX_DEADLINE_SECONDS;
  if (deadlineSeconds > MAX_DEADLINE_SECONDS)
    throw invalid("deadline_seconds", `is ${deadlineSeconds}, the limit is ${MAX_DEADLINE_SECONDS}`);
  return deadlineSeconds;
};

const inTask = <T>(index: number, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    if (isToolplaneError(error)) throw invalid(`tasks[${index}]`, error.message, error.code);
    throw error;
  }
};

export const createForkJoin = (means: PmoMeans, usualDeadlineSeconds: number) => {
  const { engine, sha256 } = means;

  const planTasks = async (call: PmoCall, ask: ForkJoinAsk, tx: Queryer): Promise<readonly PlannedTarget[]> => {
    const { projectId, callerId, toolCallId } = call;
    for (const [index, { strategy, ref }] of ask.tasks.entries())
      if (strategy === "reuse" && ref === callerId)
        throw invalid(`tasks[${index}].target_ref`, "an agent cannot wait for itself");
    const parties = await readFor(means, call, ask.tasks, tx);
    return ask.tasks.map((task, index) =>
      inTask(index, () =>
        planTarget({
          task,
          projectId,
          callerId,
          parties,
          newAgentId: (boxId) => derivedAgentId(boxId, derivedUuid(toolCallId, String(index), sha256)),
          metadata: { batch_id: batchIdOf(toolCallId), task_label: `task_${index}` },
        }),
      ),
    );
  };

  const open = async (call: PmoCall, held: HeldCall, ask: ForkJoinAsk, batchId: string, tx: Queryer) => {
    await engine.delegation.checkRoom(call.projectId, ask.tasks.length, tx);
    const targets = await planTasks(call, ask, tx);
    const writes = targets.flatMap(({ create }, index): AgentWrite[] =>
      create === undefined
        ? []
        : [agentWriteOf(call, held, create, `identity_${batchTaskIdOf(batchId, index)}`, { batch_id: batchId })],
    );
    await engine.delegation.writeAgents(writes, tx);
    const tasks = targets.map(
      (target, index): BatchTaskAsk => ({
        agentId: target.agentId,
        targetStrategy: ask.tasks[index]?.strategy ?? "new",
        instruction: ask.tasks[index]?.instruction ?? "",
        profileBoxId: target.profileBoxId,
        inheritBoxIds: target.inheritBoxIds,
      }),
    );
    const { callerId: agentId, ...rest } = call;
    const deadlineSeconds = deadlineOf(ask, usualDeadlineSeconds);
    await engine.batches.open({ ...rest, agentId, batchId, failFast: ask.failFast, deadlineSeconds, tasks }, tx);
  };

  /** The commit may have happened although its answer was lost; then the batch already holds the call. */
  const isOpen = async (projectId: string, batchId: string): Promise<boolean> =>
    (await engine.batches.get({ projectId, batchId })) !== undefined;

  return async (call: PmoCall, args: JsonObject, maxTasks: number): Promise<DeferredCall> => {
    const { projectId, toolCallId } = call;
    const ask = parseForkJoin(args, maxTasks);
    const batchId = batchIdOf(toolCallId);
    try {
      await engine.delegation.forCall(call, (tx, held) => open(call, held, ask, batchId, tx));
    } catch (error) {
      const ours = isToolplaneError(error) && error.code === "lease_lost" && (await isOpen(projectId, batchId));
      if (!ours) throw error;
    }
    // Not awaited: a failure here is found by the next look at the batch.
    engine.batches.advance({ projectId, batchId }).catch(() => {});
    return deferCall(batchHolder(batchId));
  };
};
