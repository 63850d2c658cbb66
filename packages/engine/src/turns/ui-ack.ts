// The acknowledgements of a person's action: that it was accepted, written in the transaction that stores the turn, and how it
// ended, written in the transaction that ends it. So each is sent once, only when it is true, and in this order. The tool's own
// word for its outcome (a delegation is `accepted`) is passed on.

import {
  type CGContext,
  isFilled,
  isRecord,
  type JsonObject,
  type ResultStatus,
  uiActionAckSubject,
} from "@toolplane/protocol";
import { UI_ACK_STATUSES, type UiAckStatus, type UiActionAck } from "@toolplane/protocol/agents";
import type { MessageRow } from "../outbox/messages.sql.ts";
import type { TurnMeans } from "./turn-event.ts";
import { eventRow } from "./turn-messages.ts";
import { contextOfTurn, type TurnRow } from "./turn-row.ts";

export interface ActionEnd {
  readonly status: ResultStatus;
  readonly error: string | null;
  readonly errorCode: string | null;
  readonly toolResultCardId?: string | undefined;
  /** The turn's deliverable, where it was given. */
  readonly deliverable: unknown;
}

const isAckStatus = (word: unknown): word is UiAckStatus => UI_ACK_STATUSES.some((status) => status === word);

type Outcome = Pick<UiActionAck, "status" | "error_code">;

/** What a person is told of an action that ended: the tool's own word for its outcome and its code, where it has them. */
export const uiOutcome = ({ status, deliverable }: Pick<ActionEnd, "status" | "deliverable">): Outcome => {
  if (status !== "success") return { status: "rejected" };
  if (!isRecord(deliverable) || !isAckStatus(deliverable.status)) return { status: "done" };
  const { status: said, error_code: code } = deliverable;
  return isFilled(code) ? { status: said, error_code: code } : { status: said };
};

type Said = Omit<UiActionAck, "action_id" | "agent_id" | "message_id">;

/** Undefined for a turn that is not a person's action, or whose action has no name. */
const ackOf = (
  turn: { readonly kind: string; readonly payload: string },
  context: CGContext,
  moment: "accepted" | "ended",
  said: Said,
  means: TurnMeans,
): MessageRow | undefined => {
  if (turn.kind !== "ui_action") return undefined;
  const { action_id: actionId, message_id: messageId } = JSON.parse(turn.payload) as JsonObject;
  if (!isFilled(actionId)) return undefined;
  const ack: UiActionAck = {
    action_id: actionId,
    agent_id: context.agentId,
    ...said,
    ...(isFilled(messageId) ? { message_id: messageId } : {}),
  };
  return eventRow(
    context,
    {
      subject: uiActionAckSubject(context),
      msgType: "UiActionAckPayload",
      messageId: `ui_ack:${context.agentId}:${actionId}:${moment}`,
      payload: ack as JsonObject,
    },
    means,
  );
};

export const uiAcceptedOf = (
  turn: { readonly kind: string; readonly payload: string },
  context: CGContext,
  means: TurnMeans,
): MessageRow | undefined => ackOf(turn, context, "accepted", { status: "accepted" }, means);

export const uiEndedOf = (turn: TurnRow, epoch: number, ending: ActionEnd, means: TurnMeans): MessageRow | undefined =>
  ackOf(
    turn,
    contextOfTurn(turn, epoch),
    "ended",
    {
      ...uiOutcome(ending),
      ...(ending.toolResultCardId === undefined ? {} : { tool_result_card_id: ending.toolResultCardId }),
      ...(ending.errorCode === null ? {} : { error_code: ending.errorCode }),
      ...(ending.error === null ? {} : { error: ending.error }),
    },
    means,
  );
