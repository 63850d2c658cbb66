// The command of a call that has not left the outbox: `why` finds it however many others of its target wait.

import { createMemoryCarrier, meddle, startTestEngine } from "@toolplane/testkit";
import { expect, test } from "vitest";

test("[SEE-16] the command of a call is found behind tens of thousands of others", async () => {
  const carrier = createMemoryCarrier();
  carrier.away(true);
  await using t = await startTestEngine({ carrier, tools: [{ name: "plain", options: { service: "plain" } }] });
  const asked = { projectId: t.projectId, toolName: "plain", arguments: {} };
  const { toolCallId } = await t.engine.calls.dispatch(asked);
  await meddle(t, "pileUpCommands", [toolCallId, 20_000]);
  const view = await t.engine.calls.get({ projectId: t.projectId, toolCallId });
  expect(await t.engine.calls.waitingCommand(view)).toMatchObject({ dueAt: expect.any(Date) });
  await meddle(t, "loseCommands");
  expect(await t.engine.calls.waitingCommand(view)).toBeUndefined();
});
