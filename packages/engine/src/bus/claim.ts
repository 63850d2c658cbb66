// A claim: one message in one consumer's hands, and where claims come from.

import type { HeaderMap } from "@toolplane/protocol";
import type { ClaimedRow } from "./commands.sql.ts";

/** Names one delivery: which queue it is from, which row, and under which claim it was handed out. */
export interface Claim {
  /** The durable whose delivery it is; undefined for a row of the message table itself. */
  readonly durable: string | undefined;
  readonly id: string;
  /** Which event of a parcel; 0: the message itself. */
  readonly part: number;
  readonly claimId: string;
}

export interface ClaimedMessage extends Claim {
  readonly subject: string;
  readonly headers: HeaderMap;
  readonly payload: string;
  readonly messageId: string | undefined;
  readonly attempt: number;
}

export interface ClaimRound {
  readonly messages: readonly ClaimedMessage[];
  /** How many were not handed out but buried. */
  readonly buried: number;
  /** There may be more at once, although fewer came than were asked for. */
  readonly more: boolean;
}

/** Where a consumer takes its messages from. */
export interface ClaimSource {
  claim(limit: number): Promise<ClaimRound>;
}

/** How a dead letter says why a message was given up. */
export const EXHAUSTED = {
  code: "max_deliver",
  reason: "it was delivered as often as its consumer allows and never acknowledged",
} as const;

export const planClaimRound = (
  rows: readonly ClaimedRow[],
  claim: Pick<Claim, "durable" | "claimId">,
): Omit<ClaimRound, "more"> => ({
  buried: rows[0]?.buried ?? 0,
  messages: rows.flatMap(({ id, ...row }) =>
    id === null
      ? []
      : [
          {
            ...claim,
            id,
            part: row.part ?? 0,
            subject: row.subject,
            // Written by us from a header map.
            headers: JSON.parse(row.headers) as HeaderMap,
            payload: row.payload,
            messageId: row.message_id ?? undefined,
            attempt: row.deliveries,
          },
        ],
  ),
});
