// The messages of a turn: its state, its steps, its end; and the bell of its worker pool. The ids of events are derived from
// what they report, so a repeated attempt never sends an event twice.

import {
  type CGContext,
  canonicalText,
  egress,
  type JsonObject,
  type ResultStatus,
  stampHeaders,
  stateEventSubject,
  stepEventSubject,
  taskEventSubject,
  type WakeupPayload,
  type WakeupReason,
} from "@toolplane/protocol";
import type { StateEvent, StepEvent, StepPhase, TaskEvent } from "@toolplane/protocol/agents";
import { planMessageRow } from "../outbox/append-messages.ts";
import type { MessageRow } from "../outbox/messages.sql.ts";
import { SENDER, wakeupHeaders } from "../outbox/wakeup-headers.ts";
import type { TurnEvent, TurnMeans } from "./turn-event.ts";
import { contextOfTurn, type HeadStatus, type TurnRow } from "./turn-row.ts";
import type { Wakeup } from "./turn-write-rows.sql.ts";

const SUBJECTS = { state: stateEventSubject, step: stepEventSubject, task: taskEventSubject };

const scopeOf = (turn: TurnRow) => ({ projectId: turn.project_id, channelId: turn.channel_id });

/** The event as a message of its own. */
export const rowOfEvent = ({ turn, epoch, kind, msgType, messageId, payload, means }: TurnEvent): MessageRow =>
  planEvent(
    contextOfTurn(turn, epoch),
    { subject: SUBJECTS[kind](scopeOf(turn), turn.agent_id), msgType, messageId, payload },
    means,
  );

const planEvent = (
  context: CGContext,
  event: {
    readonly subject: string;
    readonly msgType: string;
    readonly messageId: string;
    readonly payload: string;
  },
  means: TurnMeans,
): MessageRow =>
  planMessageRow({
    subject: event.subject,
    headers: stampHeaders(egress(context, means.ids, "doorbell"), {
      timestampMs: means.nowMs,
      msgType: event.msgType,
      sender: SENDER,
    }),
    payload: event.payload,
    messageId: event.messageId,
  });

export const eventRow = (
  context: CGContext,
  event: {
    readonly subject: string;
    readonly msgType: string;
    readonly messageId: string;
    readonly payload: JsonObject;
  },
  means: TurnMeans,
): MessageRow => planEvent(context, { ...event, payload: canonicalText(event.payload) }, means);

/** `more` tells two events of one state and epoch apart. */
export const stateEvent = (
  turn: TurnRow,
  state: {
    readonly status: HeadStatus;
    readonly epoch: number;
    readonly metadata?: JsonObject;
    readonly more?: string;
  },
  means: TurnMeans,
): TurnEvent => {
  const payload: StateEvent = {
    agent_id: turn.agent_id,
    agent_turn_id: turn.agent_turn_id,
    status: state.status,
    turn_epoch: state.epoch,
    updated_at: new Date(means.nowMs).toISOString(),
    output_box_id: turn.output_box_id,
    ...(state.metadata === undefined ? {} : { metadata: state.metadata }),
  };
  const more = state.more === undefined ? "" : `:${state.more}`;
  return {
    turn,
    epoch: state.epoch,
    kind: "state",
    msgType: "AgentStatePayload",
    messageId: `${turn.agent_turn_id}:state:${state.epoch}:${state.status}${more}`,
    payload: canonicalText(payload as JsonObject),
    means,
  };
};

export const stepEvent = (
  turn: TurnRow,
  epoch: number,
  step: {
    readonly stepId: string;
    readonly phase: StepPhase;
    readonly metadata?: JsonObject | undefined;
    readonly newCardIds?: readonly string[] | undefined;
  },
  means: TurnMeans,
): TurnEvent => {
  const payload: StepEvent = {
    agent_turn_id: turn.agent_turn_id,
    step_id: step.stepId,
    phase: step.phase,
    ...(step.metadata === undefined ? {} : { metadata: step.metadata }),
    ...(step.newCardIds === undefined ? {} : { new_card_ids: [...step.newCardIds] }),
  };
  return {
    turn,
    epoch,
    kind: "step",
    msgType: "AgentStepPayload",
    messageId: `${turn.agent_turn_id}:${step.stepId}:${step.phase}`,
    payload: canonicalText(payload as JsonObject),
    means,
  };
};

export const taskEvent = (
  turn: TurnRow,
  epoch: number,
  task: {
    readonly status: ResultStatus;
    readonly deliverableCardId: string;
    readonly toolResultCardId?: string | undefined;
    readonly error: string | null;
    readonly errorCode: string | null;
    readonly stats: JsonObject;
    readonly chainHead: string;
  },
  means: TurnMeans,
): TurnEvent => {
  const payload: TaskEvent = {
    agent_turn_id: turn.agent_turn_id,
    status: task.status,
    output_box_id: turn.output_box_id,
    deliverable_card_id: task.deliverableCardId,
    ...(task.toolResultCardId === undefined ? {} : { tool_result_card_id: task.toolResultCardId }),
    ...(task.error === null ? {} : { error: task.error }),
    ...(task.errorCode === null ? {} : { error_code: task.errorCode }),
    stats: task.stats,
    chain_head: task.chainHead,
  };
  return {
    turn,
    epoch,
    kind: "task",
    msgType: "AgentTaskPayload",
    messageId: `${turn.agent_turn_id}:task`,
    payload: canonicalText(payload as JsonObject),
    means,
  };
};

export const wakeupOf = (
  turn: TurnRow,
  epoch: number,
  ring: {
    readonly inboxId?: string | undefined;
    readonly reason?: WakeupReason | undefined;
    readonly messageId?: string | undefined;
  },
  means: TurnMeans,
): Wakeup => ({
  projectId: turn.project_id,
  agentId: turn.agent_id,
  channelId: turn.channel_id,
  headers: wakeupHeaders(contextOfTurn(turn, epoch), means),
  payload: canonicalText({
    ...(ring.inboxId === undefined ? {} : { inbox_id: ring.inboxId }),
    ...(ring.reason === undefined ? {} : { reason: ring.reason }),
  } satisfies WakeupPayload),
  messageId: ring.messageId ?? null,
});
