// Work as somebody brings it back: is the claim still theirs, is the turn still in that epoch? (T2)

import { ToolplaneError } from "@toolplane/protocol";
import type { Queryer } from "../sql/database.ts";
import { lockHeads } from "./held-heads.ts";
import type { Work } from "./turn.ts";
import type { HeadRow, TurnRow } from "./turn-row.ts";
import { bindClaims, READ_CLAIMED } from "./turns.sql.ts";

export interface ClaimedRow extends TurnRow {
  readonly ord: number;
  readonly inbox_status: string;
  readonly claim_id: string | null;
  readonly step_status: string | null;
  readonly step_hash: string | null;
  readonly step_outcome: string | null;
  readonly step_card_ids: readonly string[] | null;
}

export interface HeldWork {
  readonly head: HeadRow;
  readonly turn: ClaimedRow;
  /** The claim, the turn and the epoch are current. */
  readonly current: boolean;
}

export const claimLost = (work: Work): ToolplaneError =>
  new ToolplaneError(
    "lease_lost",
    `the work on turn ${work.agentTurnId} of ${work.agentId} is not yours any more: it was stopped, or taken over; drop it`,
  );

const isCurrent = (work: Work, head: HeadRow, turn: ClaimedRow): boolean =>
  turn.inbox_status === "processing" &&
  turn.claim_id === work.claimId &&
  head.status === "running" &&
  head.active_agent_turn_id === work.agentTurnId &&
  head.turn_epoch === work.turnEpoch;

/** Holds the heads and reads what was claimed, in the order asked; undefined where there is nothing of the kind. */
export const holdWork = async (
  tx: Queryer,
  items: readonly { readonly work: Work; readonly stepId?: string | undefined }[],
): Promise<readonly (HeldWork | "locked" | undefined)[]> => {
  const heads = await lockHeads(
    tx,
    items.map(({ work }) => work),
  );
  const rows = await tx.query<ClaimedRow>(
    READ_CLAIMED,
    bindClaims(
      items.map(({ work, stepId }) => ({
        projectId: work.projectId,
        agentTurnId: work.agentTurnId,
        inboxId: work.inboxId,
        stepId: stepId ?? null,
      })),
    ),
  );
  const turns = new Map(rows.map((row) => [row.ord, row]));
  return items.map(({ work }, index) => {
    const head = heads[index];
    const turn = turns.get(index + 1);
    if (head === "locked") return "locked";
    if (head === undefined || turn === undefined) return undefined;
    return { head, turn, current: isCurrent(work, head, turn) };
  });
};
