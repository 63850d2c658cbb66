// The engine's own check of histories over everything that has ended: what an operator would be told. The checker makes the
// chains again by its own code (check-cards.ts); here the verifier itself is held to the same runs.

import { sha256 } from "@toolplane/engine";
import { createDatabase, createHistory } from "@toolplane/engine/internal";
import { readTables } from "../checker/tables.ts";

/** One sentence per turn or direct call whose history does not hold. */
export const verifyHistories = async (databaseUrl: string): Promise<readonly string[]> => {
  const { turns, calls } = await readTables(databaseUrl);
  const db = createDatabase({ connection: { connectionString: databaseUrl } });
  const history = createHistory({ db, sha256 });
  const found: string[] = [];
  try {
    for (const { project_id: projectId, agent_turn_id: agentTurnId } of [
      ...turns.filter(({ ended }) => ended),
      ...calls.filter(({ headless, settled }) => headless && settled),
    ]) {
      const verdict = await history.verify({ projectId, agentTurnId });
      if (verdict === undefined) found.push(`the verifier does not find ${projectId}/${agentTurnId}`);
      else if (verdict.broken !== undefined || !verdict.ended)
        found.push(`the verifier says of ${projectId}/${agentTurnId}: ${JSON.stringify(verdict)}`);
    }
  } finally {
    await db.close();
  }
  return found;
};
