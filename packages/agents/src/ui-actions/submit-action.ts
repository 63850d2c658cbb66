// A person's action, over HTTP or NATS: admitted, stored as a turn, and answered.
//   UI1. An action is carried out once. A repeated action is told how the first ended, or that it still runs; it never touches
//       the head (W-41), because the turn under its correlation is found before anything is leased. Its action_id names it, and
//       so does its message_id: a person who clicks twice in one message acts once.
//   UI2. The turn is the action's row: once the turn is stored, the plane carries the action out, even when the caller has gone.
//   UI3. An answer carries a code and one sentence, never the text of an exception.
//   UI4. Headers that contradict what the plane decides (depth, parents, ids of the call) are refused at every door.
//   UI5. The action's trace goes on in its turn, its command and its acknowledgements.
// The turn itself is run by the worker of the agent's pool, and the engine tells how it ended when the head has moved.

import { type Engine, type Log, type SpawnedTurn, uiOutcome } from "@toolplane/engine";
import { type Card, type CGContext, HEADERS, isToolplaneError, resolveOptions } from "@toolplane/protocol";
import { checkCallerIdentity, type UiActionAck } from "@toolplane/protocol/agents";
import { errorTrace } from "../worker/error-trace.ts";
import { type Action, planAdmission, type Refusal } from "./plan-admission.ts";

export interface SubmitActionMeans {
  readonly engine: Pick<Engine, "turns" | "calls" | "cards" | "agents" | "tools">;
  readonly log: Log;
}

export interface AskedAction {
  /** Who acts, where, and in which trace. */
  readonly context: CGContext;
  readonly actionId: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** A program with an agent's token asks, not a person: its arguments may derive from anything that the program has read. */
  readonly byAgent?: boolean | undefined;
}

export interface ActionAnswer {
  readonly ack: UiActionAck;
  /** Absent when it was refused. */
  readonly turn?: SpawnedTurn | undefined;
}

/** The pool whose agents people act for. */
export const UI_WORKER_TARGET = "ui_worker";
const ACTOR = "sys.ui_worker";

const refusalOf = (error: unknown): Refusal => {
  if (isToolplaneError(error) && error.code === "agent_busy")
    return { status: "busy", errorCode: "agent_busy", error: "the agent is in another turn; try again later" };
  if (isToolplaneError(error) && error.code !== "internal_error")
    return { status: "rejected", errorCode: error.code, error: error.message };
  return { status: "rejected", errorCode: "internal_error", error: "the action could not be carried out" };
};

/** Rejects only when the database is away: then the action may be sent again. */
export const createSubmitAction = (means: SubmitActionMeans): ((asked: AskedAction) => Promise<ActionAnswer>) => {
  const { engine, log } = means;

  const admit = async ({ context, payload }: AskedAction) => {
    const { projectId, agentId, agentTurnId } = context;
    const [agent, tool] = await Promise.all([
      engine.agents.getAgent(projectId, agentId),
      engine.tools.getTool(projectId, String(payload.tool_name), true),
    ]);
    return planAdmission(
      {
        agentId,
        agentTurnId,
        payload,
        workerTarget: agent?.status === "active" ? agent.workerTarget : undefined,
        tool: tool && { uiAllowed: resolveOptions(tool.definition.options).uiAllowed },
      },
      UI_WORKER_TARGET,
    );
  };

  const spawn = ({ context, byAgent = false }: AskedAction, action: Action): Promise<SpawnedTurn> =>
    engine.turns.spawn({
      projectId: context.projectId,
      agentId: context.agentId,
      sourceAgentId: ACTOR,
      saidDepth: context.recursionDepth,
      kind: "ui_action",
      channelId: context.channelId,
      correlationId: `ui_action:${action.actionId}`,
      ...(action.messageId === undefined ? {} : { aliasId: `ui_message:${action.toolName}:${action.messageId}` }),
      traceparent: context.headers[HEADERS.traceparent],
      tracestate: context.headers[HEADERS.tracestate],
      context: {
        instruction: `${byAgent ? "The agent's own program" : "A person"} used ${action.toolName}`,
        packedBy: ACTOR,
      },
      ...(byAgent ? { metadata: { asked_by_agent: true } } : {}),
      payload: {
        action_id: action.actionId,
        tool_name: action.toolName,
        args: action.args,
        ...(action.messageId === undefined ? {} : { message_id: action.messageId }),
      },
    });

  /** The card of the action's result, once its call has one. */
  const resultOf = async (turn: SpawnedTurn): Promise<Card | undefined> => {
    const { projectId } = turn;
    const steps = await engine.turns.steps(turn);
    const toolCallId = steps.flatMap(({ toolCallIds }) => toolCallIds).at(-1);
    if (toolCallId === undefined) return undefined;
    const { resultCardId } = await engine.calls.get({ projectId, toolCallId });
    return (await engine.cards.getCards(projectId, [resultCardId]))[0];
  };

  /** The answer to a repeated action: how it ended, in the words of the first time, or that it still runs. */
  const repeated = async (turn: SpawnedTurn): Promise<Omit<UiActionAck, "action_id" | "agent_id">> => {
    const view = await engine.turns.get(turn);
    if (view === undefined || view.endedAt === null)
      return { status: "busy", error_code: "idempotency_inflight", error: "this action is being carried out" };
    const card = await resultOf(turn);
    const pointer = card === undefined ? {} : { tool_result_card_id: card.card_id };
    if (view.status === "success") {
      const deliverable = card?.content.__type__ === "ToolResultContent" ? card.content.result : undefined;
      return { ...uiOutcome({ status: "success", deliverable }), ...pointer };
    }
    return {
      status: "rejected",
      error_code: view.errorCode ?? "tool_error",
      error: view.error ?? view.status,
      ...pointer,
    };
  };

  const who = ({ context, actionId, payload }: AskedAction) => ({
    action_id: actionId,
    agent_id: context.agentId,
    ...(typeof payload.message_id === "string" && payload.message_id !== "" ? { message_id: payload.message_id } : {}),
  });

  const refused = (asked: AskedAction, { status, errorCode, error }: Refusal): ActionAnswer => ({
    ack: { ...who(asked), status, error_code: errorCode, error },
  });

  return async (asked) => {
    try {
      checkCallerIdentity(asked.context.headers, { ...asked.context, isAction: true });
      const admission = await admit(asked);
      if ("refused" in admission) return refused(asked, admission.refused);
      const turn = await spawn(asked, admission.action);
      const outcome = turn.idempotent ? await repeated(turn) : { status: "accepted" as const };
      return { turn, ack: { ...who(asked), ...outcome } };
    } catch (error) {
      if (isToolplaneError(error) && error.code === "storage_error") throw error;
      if (!isToolplaneError(error))
        log.error("a person's action failed", { action: asked.actionId, ...errorTrace(error) });
      return refused(asked, refusalOf(error));
    }
  };
};
