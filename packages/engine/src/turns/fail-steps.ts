// Steps that are under way when their turn ends: those that wait for results, and one that was begun. They end as failed, and
// followers of the turn are told.

import type { Queryer } from "../sql/database.ts";
import { FAIL_STEPS } from "./end-turn.sql.ts";
import type { LedgerMeans } from "./ledger.ts";
import type { TurnEvent } from "./turn-event.ts";
import { stepEvent } from "./turn-messages.ts";
import type { TurnRow } from "./turn-row.ts";

/** The caller writes the events. */
export const failSteps = async (
  tx: Queryer,
  turn: TurnRow,
  epoch: number,
  error: string,
  means: LedgerMeans,
): Promise<readonly TurnEvent[]> => {
  const rows = await tx.query<{ step_id: string; new_card_ids: readonly string[] }>(FAIL_STEPS, [
    turn.project_id,
    turn.agent_turn_id,
    error,
  ]);
  return rows.map(({ step_id, new_card_ids }) =>
    stepEvent(turn, epoch, { stepId: step_id, phase: "failed", metadata: { error }, newCardIds: new_card_ids }, means),
  );
};
