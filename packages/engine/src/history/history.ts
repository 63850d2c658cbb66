// The history of turns and direct calls: checking it, and what retention has left of it.

import type { ChainKey, Sha256 } from "../calls/turn-chain.ts";
import { isPossibleId } from "../cards/possible-id.ts";
import type { Queryer } from "../sql/database.ts";
import { READ_CALL_HISTORY, READ_TURN_HISTORY, type StoredCall, type StoredTurn } from "./history.sql.ts";
import { planCallVerdict, planTurnVerdict, type Verdict } from "./plan-verdict.ts";
import { readTombstones, type Tombstone } from "./tombstones.ts";

export interface History {
  /**
   * Computes the chain of a turn again from its rows and cards. A direct call is the turn `turn_<call>`. Undefined for a turn
   * that does not exist.
   */
  verify(key: ChainKey): Promise<Verdict | undefined>;
  /** What is left of a turn that retention has forgotten. */
  tombstone(key: ChainKey): Promise<Tombstone | undefined>;
}

const HEADLESS = /^turn_(?<call>.+)$/;

export const createHistory = ({ db, sha256 }: { readonly db: Queryer; readonly sha256: Sha256 }): History => ({
  async verify(key) {
    const { projectId, agentTurnId } = key;
    if (!isPossibleId(projectId) || !isPossibleId(agentTurnId)) return undefined;
    const [turn] = await db.query<StoredTurn>(READ_TURN_HISTORY, [projectId, agentTurnId]);
    if (turn !== undefined) return planTurnVerdict(key, turn, sha256);
    const call = HEADLESS.exec(agentTurnId)?.groups?.call;
    const [direct] = call === undefined ? [] : await db.query<StoredCall>(READ_CALL_HISTORY, [projectId, call]);
    return direct === undefined ? undefined : planCallVerdict(key, direct, sha256);
  },
  async tombstone(key) {
    if (!isPossibleId(key.projectId) || !isPossibleId(key.agentTurnId)) return undefined;
    return (await readTombstones(db, [key]))[0];
  },
});
