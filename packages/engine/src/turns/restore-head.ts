// A head that is missing while a turn of its agent is open. No part of the plane removes heads, so a person did, or a table was
// restored without the row. The head is made again only to end the turn, in the last known epoch of the turn, so that messages
// that still come for the turn are late (I2). The end of the turn's chain was in the head and is lost: the chain goes on from the
// opening in the turn's row, and a check of the history says that links are missing.

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
