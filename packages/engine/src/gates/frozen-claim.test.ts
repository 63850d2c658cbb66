// A process of the plane that stands still in the middle of a claim, and the claims of the others.

import { startTestEngine, withClient } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { LOCK_PROJECTS } from "./gates.sql.ts";

test("[LIM-frozen-1] a process that stands still while it claims holds up the claims of others for seconds, not for ten", async () => {
  await using t = await startTestEngine({ tools: [{ name: "limited", options: { concurrency: 1 } }] });
  const { toolCallId } = await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "limited", arguments: {} });
  // The timeout of this connection is the server's own, not the plane's: only the statement's can end the transaction.
  const ended = withClient(t, async (client) => {
    await client.query("begin");
    await client.query(LOCK_PROJECTS.text, [[t.projectId]]);
    const lost = new Promise<Error>((resolve) => client.once("error", resolve));
    const claimed = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 1 });
    expect(claimed.map(({ facts }) => facts.toolCallId)).toEqual([toolCallId]);
    return lost;
  });
  await expect(ended).resolves.toMatchObject({ code: "25P03" });
});
