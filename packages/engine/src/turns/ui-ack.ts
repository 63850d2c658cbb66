// The last acknowledgement of a person's action: how it ended, said in the transaction that ends its turn, so it is said
// once and only when the head really moved. What the tool itself calls its outcome (a delegation is `accepted`) is passed on.

import { isFilled, isRecord, type JsonObject, type ResultStatus, uiActionAckSubject } from "@toolplane/protocol";
import { UI_ACK_STATUSES, type UiAckStatus, type UiActionAck } from "@toolplane/protocol/agents";
import type { MessageRow } from "../outbox/messages.sql.ts";
import { eventRow, type TurnMeans } from "./turn-messages.ts";
import type { TurnRow } from "./turn-row.ts";

export interface ActionEnd {
  readonly status: ResultStatus;
  readonly error: string | null;
  readonly errorCode: string | null;
  readonly toolResultCardId?: string | undefined;
  /** What the turn hands over, where it was brought along. */
  readonly deliverable: unknown;
}

const isAckStatus = (word: unknown): word is UiAckStatus => UI_ACK_STATUSES.some((status) => status === word);

const statusOf = ({ status, deliverable }: ActionEnd): UiAckStatus => {
  if (status !== "success") return "rejected";
  const said = isRecord(deliverable) ? deliverable.status : undefined;
  return isAckStatus(said) ? said : "done";
};

/** Undefined for a turn that is no person's action, or whose action cannot be named. */
export const uiAckOf = (turn: TurnRow, epoch: number, ending: ActionEnd, means: TurnMeans): MessageRow | undefined => {
  if (turn.kind !== "ui_action") return undefined;
  const { action_id: actionId, message_id: messageId } = JSON.parse(turn.payload) as JsonObject;
  if (!isFilled(actionId)) return undefined;
  const ack: UiActionAck = {
    action_id: actionId,
    agent_id: turn.agent_id,
    status: statusOf(ending),
    ...(isFilled(messageId) ? { message_id: messageId } : {}),
    ...(ending.toolResultCardId === undefined ? {} : { tool_result_card_id: ending.toolResultCardId }),
    ...(ending.errorCode === null ? {} : { error_code: ending.errorCode }),
    ...(ending.error === null ? {} : { error: ending.error }),
  };
  return eventRow(
    turn,
    epoch,
    {
      subject: uiActionAckSubject({ projectId: turn.project_id, channelId: turn.channel_id }),
      msgType: "UiActionAckPayload",
      messageId: `ui_ack:${actionId}:ended`,
      payload: ack as JsonObject,
    },
    means,
  );
};
