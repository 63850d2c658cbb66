// Why a result card was not written, or that it exists already. A service may write one card for an open call; a second writer
// is told which card to report instead (UTP 4.4).
//   I6. Only the holder of a live lease writes, and only the holder is told of an existing card.
//   I7. The same card again changes nothing, also after the settlement.

import { isRecord, ToolplaneError } from "@toolplane/protocol";
import { type CallView, isSettled } from "./call.ts";
import { planNotDue } from "./not-due.ts";
import type { StandingCard } from "./reports.sql.ts";

export interface StandingFor {
  readonly toolCallId: string;
  readonly actorId: string;
}

export interface UnwrittenCard extends StandingFor {
  readonly cardId: string;
  readonly hash: string;
  /** The lease it was written under. */
  readonly leaseId: string | null;
}

const notHolder = ({ toolCallId, leaseId }: UnwrittenCard, { status, leaseHolder }: CallView): ToolplaneError =>
  new ToolplaneError(
    "lease_lost",
    leaseId === null
      ? `call ${toolCallId} is leased by ${leaseHolder}: only the holder of the lease writes its result card; send the lease`
      : `the lease on call ${toolCallId} is gone: no result card is taken under it; stop working on it`,
    { detail: { status } },
  );

const statusIn = (body: string): unknown => {
  const card: unknown = JSON.parse(body);
  return isRecord(card) && isRecord(card.content) ? card.content.status : undefined;
};

/** Another card of this author exists for the open call: that card must be reported. */
export const otherStands = ({ toolCallId, actorId }: StandingFor, { card_id, body }: StandingCard): ToolplaneError =>
  new ToolplaneError(
    "conflict",
    `call ${toolCallId} has a result card of ${actorId} already: report card ${card_id} instead of another one`,
    { detail: { tool_result_card_id: card_id, status: statusIn(body) as string } },
  );

/** Undefined: the card exists as it should. */
export const planUnwritten = (
  card: UnwrittenCard,
  standing: readonly StandingCard[],
  call: CallView | undefined,
  nowMs: number,
): ToolplaneError | undefined => {
  const { cardId, toolCallId } = card;
  const same = standing.find(({ card_id }) => card_id === cardId);
  if (same !== undefined) {
    return same.hash === card.hash
      ? undefined
      : new ToolplaneError("conflict", `card ${cardId} exists with other content; give a new card a new id`);
  }
  if (call === undefined) return new ToolplaneError("not_found", `there is no call ${toolCallId} in this project`);
  if (isSettled(call.status)) {
    return new ToolplaneError(
      "already_settled",
      `call ${toolCallId} has settled (${call.status}): no more result cards are taken for it`,
      { detail: { status: call.status, tool_result_card_id: call.resultCardId } },
    );
  }
  const notDue = planNotDue(call, card.leaseId, nowMs);
  if (notDue !== undefined) return notDue;
  if (card.leaseId !== call.leaseId) return notHolder(card, call);
  const [first] = standing;
  if (first === undefined)
    return new ToolplaneError("storage_error", `card ${cardId} could not be written just now; write it again`);
  return otherStands(card, first);
};
