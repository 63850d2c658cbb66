// A head that is gone while a turn of its agent is open: no part of the plane removes it, so somebody did by hand, or a table was
// restored without it. It is made again for one purpose, to end the turn: in the epoch the turn was last known in, so that
// what still comes for it is late (I2). The place of the turn's chain is gone with the head: the end
// goes on from the opening that the turn's row has, and a check of the history says that links are missing.

import { UsageError } from "@toolplane/protocol";
import type { Queryer } from "../sql/database.ts";
import { READ_LAST_EPOCH } from "./restore-head.sql.ts";
import type { HeadRow, TurnRow } from "./turn-row.ts";
import { AWAIT_HEADS, bindAgents, ENSURE_HEADS } from "./turns.sql.ts";

/** Held until the transaction ends, like any head. For a queued turn the head is idle. */
export const restoreHead = async (tx: Queryer, turn: TurnRow): Promise<HeadRow> => {
  const agent = { projectId: turn.project_id, agentId: turn.agent_id };
  await tx.query(ENSURE_HEADS, bindAgents([agent]));
  const [made] = await tx.query<HeadRow>(AWAIT_HEADS, bindAgents([agent]));
  if (made === undefined) throw new UsageError(`agent ${turn.agent_id} is not in the roster: its turns go with it`);
  const [last] = await tx.query<{ epoch: number }>(READ_LAST_EPOCH, [turn.project_id, turn.agent_turn_id]);
  const epoch = Math.max(made.turn_epoch, turn.turn_epoch, last?.epoch ?? 0);
  if (turn.status !== "active" || made.status !== "idle") return { ...made, turn_epoch: epoch };
  return { ...made, status: "suspended", active_agent_turn_id: turn.agent_turn_id, turn_epoch: epoch };
};
