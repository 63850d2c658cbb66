// Work that a worker brings back: checks that the claim is still the worker's and that the turn is still in that epoch (T2).

import { ToolplaneError } from "@toolplane/protocol";
import type { Queryer } from "../sql/database.ts";
import { bindHeldWork, HOLD_LAST_WORK, HOLD_WORK } from "./hold.sql.ts";
import type { Work } from "./turn.ts";
import type { HeadRow, QueuedRow, TurnRow } from "./turn-row.ts";

export interface ClaimedTurn extends TurnRow {
  readonly inbox_status: string | null;
  readonly claim_id: string | null;
  readonly step_status: string | null;
  readonly step_hash: string | null;
  readonly step_outcome: string | null;
}

type ClaimedRow = HeadRow &
  Pick<ClaimedTurn, "inbox_status" | "claim_id" | "step_status" | "step_hash" | "step_outcome"> & {
    readonly known: boolean;
    readonly steady: boolean;
    readonly turn: TurnRow | null;
    readonly queue?: readonly QueuedRow[];
  };

export interface HeldWork {
  readonly head: HeadRow;
  readonly turn: ClaimedTurn;
  /** The claim, the turn and the epoch are current. */
  readonly current: boolean;
  /** The turns that wait for the agent; only when they were asked for. */
  readonly queue: readonly QueuedRow[];
}

export const claimLost = (work: Work): ToolplaneError =>
  new ToolplaneError(
    "lease_lost",
    `the work on turn ${work.agentTurnId} of ${work.agentId} is not yours any more: it was stopped, or taken over; drop it`,
  );

const isCurrent = (work: Work, head: HeadRow, turn: ClaimedTurn): boolean =>
  turn.inbox_status === "processing" &&
  turn.claim_id === work.claimId &&
  head.status === "running" &&
  head.active_agent_turn_id === work.agentTurnId &&
  head.turn_epoch === work.turnEpoch;

/**
 * Holds the heads and reads the claimed work, in the order asked; undefined where there is no such work. `last`: the turns
 * that wait for the agents are read too.
 */
export const holdWork = async (
  tx: Queryer,
  items: readonly { readonly work: Work; readonly stepId?: string | undefined }[],
  last = false,
): Promise<readonly (HeldWork | "locked" | undefined)[]> => {
  const rows = await tx.query<ClaimedRow>(
    last ? HOLD_LAST_WORK : HOLD_WORK,
    bindHeldWork(
      items.map(({ work, stepId }) => ({
        projectId: work.projectId,
        agentId: work.agentId,
        agentTurnId: work.agentTurnId,
        inboxId: work.inboxId,
        stepId: stepId ?? null,
      })),
    ),
  );
  return items.map(({ work }, index) => {
    const row = rows[index];
    if (row?.known !== true) return undefined;
    if (!row.steady) return "locked";
    if (row.turn === null || row.inbox_status === null) return undefined;
    const { inbox_status, claim_id, step_status, step_hash, step_outcome } = row;
    const turn = { ...row.turn, inbox_status, claim_id, step_status, step_hash, step_outcome };
    return { head: row, turn, current: isCurrent(work, row, turn), queue: row.queue ?? [] };
  });
};
