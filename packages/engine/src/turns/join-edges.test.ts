import { dispatchAndClaim, startTestEngine, withClient } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { JOIN_EDGE } from "../batches/batches.sql.ts";

test("[UTP-6.6-1] a join writes its edge once per phase, both at the depth of the call that asked", async () => {
  await using t = await startTestEngine();
  const { facts } = await dispatchAndClaim(t, "safe");
  for (const phase of ["request", "request", "response", "response"])
    await t.engine.db.query(JOIN_EDGE, [
      t.projectId,
      `edge_${phase}`,
      phase,
      "sys.pmo",
      "batch_1",
      "{}",
      facts.toolCallId,
    ]);
  const edges = await withClient(t, (client) =>
    client.query(
      "select edge_phase, recursion_depth, target_turn_id from state.edges where primitive = 'join' order by 1",
    ),
  );
  expect(edges.rows).toEqual([
    { edge_phase: "request", recursion_depth: facts.recursionDepth, target_turn_id: facts.agentTurnId },
    { edge_phase: "response", recursion_depth: facts.recursionDepth, target_turn_id: facts.agentTurnId },
  ]);
});
