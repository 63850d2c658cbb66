// UI actions: a person uses one tool in the name of an agent, from a user interface that only knows the bus.
//   U1. Every action that says who it is gets an acknowledgement; one that does not becomes a dead letter (W-28).
//   U2. An action is carried out once. Asked again it is told how it ended, or that it still runs; a repeated action
//       never touches the head (W-41): the turn under its correlation is found before anything is leased. Its action_id names
//       it, and its message_id does so too: a person who clicks twice in one message acts once.
//   U3. The command is acknowledged after its turn is written; a crash in between only repeats it.
//   U4. An acknowledgement carries a code and one sentence, never the text of an exception.
//   U5. The action's trace goes on in its turn, its command and its acknowledgements.
// The turn itself is run by the worker of the agent's pool, and the engine tells how it ended when the head has moved.

import { type Clock, type Engine, type Ids, type Log, type SpawnedTurn, uiEndStatus } from "@toolplane/engine";
import {
  type Card,
  type CGContext,
  canonicalText,
  egress,
  HEADERS,
  ingress,
  isToolplaneError,
  type JsonObject,
  parseJsonStrict,
  resolveOptions,
  stampHeaders,
  tryParseSubject,
  uiActionAckSubject,
} from "@toolplane/protocol";
import { type UiActionAck, uiActionSubscription } from "@toolplane/protocol/agents";
import { errorTrace } from "../worker/error-trace.ts";
import { type Action, actionIdOf, planAdmission, type Refusal } from "./plan-admission.ts";

type Bus = Engine["bus"];
type Consumer = Awaited<ReturnType<Bus["consume"]>>;
type Delivery = Parameters<Parameters<Bus["consume"]>[1]>[0];

export interface UiActionsOptions {
  readonly engine: Pick<Engine, "bus" | "turns" | "calls" | "cards" | "agents" | "tools">;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Log;
  /** The pool whose agents people act for. */
  readonly workerTarget?: string | undefined;
  readonly maxInFlight?: number | undefined;
}

export const UI_WORKER_TARGET = "ui_worker";
const ACTOR = "sys.ui_worker";
const SENDER = "toolplane";
/** A database that restarts is back within these. */
const BACKOFF_MS = [200, 1_000, 5_000];
const MAX_DELIVER = 20;

interface Heard {
  readonly context: CGContext;
  readonly payload: Readonly<Record<string, unknown>>;
}

const hear = (delivery: Delivery, ids: Ids): Heard =>
  ingress(
    {
      subject: tryParseSubject(delivery.subject),
      headers: delivery.headers,
      payload: parseJsonStrict(delivery.payload),
    },
    ids,
  );

const isTransient = (error: unknown): boolean => isToolplaneError(error) && error.code === "storage_error";

const refusalOf = (error: unknown): Refusal => {
  if (isToolplaneError(error) && error.code === "agent_busy")
    return { status: "busy", errorCode: "agent_busy", error: "the agent is in another turn; try again later" };
  if (isToolplaneError(error) && error.code !== "internal_error")
    return { status: "rejected", errorCode: error.code, error: error.message };
  return { status: "rejected", errorCode: "internal_error", error: "the action could not be carried out" };
};

export const startUiActions = async (options: UiActionsOptions): Promise<Consumer> => {
  const { engine, ids, clock, log, workerTarget = UI_WORKER_TARGET } = options;

  const publishAck = async (context: CGContext, ack: UiActionAck): Promise<void> => {
    const scope = { projectId: context.projectId, channelId: context.channelId };
    await engine.bus.publish([
      {
        subject: uiActionAckSubject(scope),
        headers: stampHeaders(egress(context, ids, "doorbell"), {
          timestampMs: clock.now(),
          msgType: "UiActionAckPayload",
          sender: SENDER,
        }),
        payload: canonicalText(ack as JsonObject),
        messageId: `ui_ack:${ack.action_id}:${ids.uuid()}`,
      },
    ]);
  };

  const admit = async ({ context, payload }: Heard) => {
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
      workerTarget,
    );
  };

  const spawn = ({ context }: Heard, action: Action): Promise<SpawnedTurn> =>
    engine.turns.spawn({
      projectId: context.projectId,
      agentId: context.agentId,
      sourceAgentId: ACTOR,
      kind: "ui_action",
      channelId: context.channelId,
      correlationId: `ui_action:${action.actionId}`,
      ...(action.messageId === undefined ? {} : { aliasId: `ui_message:${action.toolName}:${action.messageId}` }),
      traceparent: context.headers[HEADERS.traceparent],
      tracestate: context.headers[HEADERS.tracestate],
      context: { instruction: `A person used ${action.toolName}`, packedBy: ACTOR },
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
    const toolCallId = (await engine.turns.steps(turn)).at(-1)?.toolCallIds.at(-1);
    if (toolCallId === undefined) return undefined;
    const { resultCardId } = await engine.calls.get({ projectId, toolCallId });
    return (await engine.cards.getCards(projectId, [resultCardId]))[0];
  };

  /** What a repeated action hears: how it ended, in the words of the first time, or that it still runs. */
  const repeated = async (turn: SpawnedTurn): Promise<Omit<UiActionAck, "action_id" | "agent_id">> => {
    const view = await engine.turns.get(turn);
    if (view === undefined || view.endedAt === null)
      return { status: "busy", error_code: "idempotency_inflight", error: "this action is being carried out" };
    const card = await resultOf(turn);
    const pointer = card === undefined ? {} : { tool_result_card_id: card.card_id };
    if (view.status === "success") {
      const deliverable = card?.content.__type__ === "ToolResultContent" ? card.content.result : undefined;
      return { status: uiEndStatus({ status: "success", deliverable }), ...pointer };
    }
    return {
      status: "rejected",
      error_code: view.errorCode ?? "tool_error",
      error: view.error ?? view.status,
      ...pointer,
    };
  };

  const carryOut = async (heard: Heard, action: Action, attempt: number): Promise<void> => {
    const { context } = heard;
    const who = {
      action_id: action.actionId,
      agent_id: context.agentId,
      ...(action.messageId === undefined ? {} : { message_id: action.messageId }),
    };
    const turn = await spawn(heard, action);
    // That it was accepted is said with the turn. The same command again means: we were not sure the first time.
    if (!turn.idempotent || attempt > 1) return;
    await publishAck(context, { ...who, ...(await repeated(turn)) });
  };

  const refuse = async (context: CGContext, actionId: string, messageId: unknown, refused: Refusal): Promise<void> => {
    await publishAck(context, {
      action_id: actionId,
      agent_id: context.agentId,
      status: refused.status,
      error_code: refused.errorCode,
      error: refused.error,
      ...(typeof messageId === "string" && messageId !== "" ? { message_id: messageId } : {}),
    });
  };

  const handle = async (delivery: Delivery): Promise<void> => {
    let heard: Heard;
    try {
      heard = hear(delivery, ids);
    } catch (error) {
      log.warn("a user interface sent an action that cannot be read", {
        subject: delivery.subject,
        ...errorTrace(error),
      });
      await delivery.term(isToolplaneError(error) ? error.message : "it cannot be read");
      return;
    }
    const { context, payload } = heard;
    const actionId = actionIdOf(payload);
    if (actionId === undefined || context.agentId === "") {
      await delivery.term("an action names its action_id and its agent");
      return;
    }
    try {
      const admission = await admit(heard);
      if ("refused" in admission) await refuse(context, actionId, payload.message_id, admission.refused);
      else await carryOut(heard, admission.action, delivery.attempt);
    } catch (error) {
      if (isTransient(error)) throw error;
      if (!isToolplaneError(error)) log.error("a person's action failed", { action: actionId, ...errorTrace(error) });
      await refuse(context, actionId, payload.message_id, refusalOf(error));
    }
  };

  const { pattern, durable } = uiActionSubscription();
  return engine.bus.consume(
    {
      durable,
      pattern: pattern.text,
      category: "cmd",
      maxInFlight: options.maxInFlight ?? 16,
      maxDeliver: MAX_DELIVER,
      backoff: BACKOFF_MS,
    },
    handle,
  );
};
