// delegate_async, launch_principal and ask_expert: one transaction makes the agent if needed and gives it a turn. They do not
// wait for the child. A refusal leaves nothing behind; a repeated call finds the child it made.

import {
  type Batches,
  type DelegatedTurn,
  derivedUuid,
  type Engine,
  type HeldCall,
  type Parties,
  PMO_ACTOR,
  type Queryer,
  type Turns,
} from "@toolplane/engine";
import { ERROR_TABLE, type HashText, isToolplaneError, type JsonObject, ToolplaneError } from "@toolplane/protocol";
import { createParentPointerCard } from "@toolplane/protocol/agents";
import { askedOf, boxesOf, type PlannedTarget, planTarget } from "./plan-target.ts";
import type { TaskAsk } from "./pmo-arguments.ts";
import { derivedAgentId, type PmoCall } from "./pmo-call.ts";

/** What the project manager's tools use of the engine. */
export interface PmoEngine extends Pick<Engine, "delegation" | "tools" | "doorbell"> {
  readonly batches: Pick<Batches, "open" | "advance" | "turnEnded" | "get">;
  readonly turns: Pick<Turns, "spawn" | "ring">;
}

export interface PmoMeans {
  readonly engine: PmoEngine;
  readonly uuid: () => string;
  readonly now: () => number;
  readonly sha256: HashText;
}

/** A refusal of the engine: the transaction must not commit, and the model is told as data. */
class DelegationRefused extends Error {
  override readonly name = "DelegationRefused";
  readonly data: JsonObject;

  constructor(data: JsonObject) {
    super("the delegation was refused");
    this.data = data;
  }
}

const refusalOf = (error: ToolplaneError, agentId: string): JsonObject | undefined => {
  if (error.code === "agent_busy") return { status: "busy", error_code: error.code, agent_id: agentId };
  if (error.code === "internal_error") return { status: "error", error_code: error.code, agent_id: agentId };
  if (ERROR_TABLE[error.code].retry !== "never") return undefined;
  return { status: "rejected", error_code: error.code, error_message: error.message, agent_id: agentId };
};

/** Reads the facts that the guards of these tasks need. */
export const readFor = async (
  { engine }: PmoMeans,
  call: PmoCall,
  tasks: readonly TaskAsk[],
  tx: Queryer,
): Promise<Parties> => {
  const parties = await engine.delegation.readParties(call.projectId, askedOf(call.callerId, tasks), tx);
  const boxIds = boxesOf(tasks, parties);
  if (boxIds.length === 0) return parties;
  const { boxes } = await engine.delegation.readParties(call.projectId, { boxIds }, tx);
  return { ...parties, boxes };
};

export const agentWriteOf = (
  call: PmoCall,
  held: HeldCall,
  agent: NonNullable<PlannedTarget["create"]>,
  edgeId: string,
  edgeMetadata: JsonObject = {},
) => ({
  agent,
  action: "provision" as const,
  forTask: true,
  depth: held.recursionDepth + 1,
  edgeId,
  sourceAgentId: call.callerId,
  channelId: call.channelId,
  traceId: call.traceId ?? undefined,
  parentStepId: call.stepId ?? undefined,
  edgeMetadata: { tool_call_id: call.toolCallId, ...edgeMetadata },
});

const accepted = (turn: DelegatedTurn): JsonObject => ({
  status: "accepted",
  agent_id: turn.agentId,
  agent_turn_id: turn.agentTurnId,
  turn_epoch: turn.turnEpoch,
  context_box_id: turn.contextBoxId,
  output_box_id: turn.outputBoxId,
});

export interface DelegateRequest {
  readonly task: TaskAsk;
  /** Pass the caller's output so far. */
  readonly includeHistory?: boolean | undefined;
}

export const createDelegate = (means: PmoMeans) => {
  const { engine, sha256 } = means;

  const withHistory = async (call: PmoCall, task: TaskAsk, tx: Queryer): Promise<TaskAsk> => {
    const asked = { agentIds: [call.callerId] };
    const { agents } = await engine.delegation.readParties(call.projectId, asked, tx);
    const output = agents.get(call.callerId)?.boxes.output;
    if (agents.has(call.callerId) && (output === undefined || output === null))
      throw new ToolplaneError("bad_request", "include_history: the caller has no output to share");
    return output === undefined || output === null ? task : { ...task, contextBoxId: output };
  };

  const spawn = async (call: PmoCall, task: TaskAsk, target: PlannedTarget, tx: Queryer) => {
    const { projectId, callerId, toolName } = call;
    const { agentId } = target;
    const outputBoxId =
      task.strategy === "reuse" ? await engine.delegation.chooseOutputBox(projectId, agentId, tx) : undefined;
    const pointer = createParentPointerCard({
      cardId: means.uuid(),
      projectId,
      createdAt: new Date(means.now()).toISOString(),
      authorId: toolName,
      parentAgentId: callerId,
    });
    try {
      return await engine.turns.spawn(
        {
          projectId,
          agentId,
          sourceAgentId: PMO_ACTOR,
          lineage: { agentId: callerId, agentTurnId: call.agentTurnId, stepId: call.stepId ?? undefined },
          context: {
            inheritBoxIds: target.inheritBoxIds,
            packedBy: toolName,
            instruction: task.instruction,
            cards: [pointer],
          },
          profileBoxId: target.profileBoxId,
          outputBoxId,
          channelId: call.channelId,
          correlationId: `delegate_${call.toolCallId}`,
          metadata: { tool_call_id: call.toolCallId },
          traceparent: call.traceparent,
        },
        tx,
      );
    } catch (error) {
      const data = isToolplaneError(error) ? refusalOf(error, agentId) : undefined;
      if (data === undefined) throw error;
      throw new DelegationRefused(data);
    }
  };

  const delegateIn = async (call: PmoCall, held: HeldCall, request: DelegateRequest, tx: Queryer) => {
    const { projectId, callerId, toolCallId } = call;
    const before = await engine.delegation.findSpawned(projectId, `delegate_${toolCallId}`, tx);
    if (before !== undefined) return before;
    await engine.delegation.checkRoom(projectId, 1, tx);
    const task = request.includeHistory === true ? await withHistory(call, request.task, tx) : request.task;
    const parties = await readFor(means, call, [task], tx);
    const newAgentId = (boxId: string): string => derivedAgentId(boxId, derivedUuid(toolCallId, "0", sha256));
    const target = planTarget({ task, projectId, callerId, parties, newAgentId });
    if (target.create !== undefined)
      await engine.delegation.writeAgents([agentWriteOf(call, held, target.create, `identity_${toolCallId}`)], tx);
    return spawn(call, task, target, tx);
  };

  return async (call: PmoCall, request: DelegateRequest): Promise<JsonObject> => {
    try {
      const turn = await engine.delegation.forCall(call, (tx, held) => delegateIn(call, held, request, tx));
      engine.turns.ring([{ projectId: call.projectId, agentId: turn.agentId }], "spawned");
      return accepted(turn);
    } catch (error) {
      if (error instanceof DelegationRefused) return error.data;
      throw error;
    }
  };
};
