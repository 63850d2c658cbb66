// What a lone call costs in statements where NATS carries its command and its events: pinned.

import { defineTool } from "@toolplane/sdk";
import { countStatements } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { openWorld } from "./world.ts";

/** What a call leaves to be done after its answer is counted with the next one. */
const ROUNDS = 5;
/** The relay and the services also look by themselves now and then: the best of a few windows counts. */
const WINDOWS = 5;
/** Dispatch and settlement, and one of the relay for what each of them told; one to spare. It was fifteen once, then six. */
const MOST = 5;

const echo = defineTool({
  name: "echo",
  description: "Say it again",
  parameters: { type: "object", properties: {} } as const,
  retry: "safe",
  run: async () => ({ ok: true }),
});

test("[ENG-few-8] over NATS a lone call takes five statements at most, and none reads it", async () => {
  await using world = await openWorld({ watchdog: false });
  const { engine, test: t } = world;
  await using _serving = await world.serve([echo], { target: "few" });
  const over = new AbortController();
  const bundled = engine.calls.claimAcross({ target: "bundled", holder: "b", max: 4 }, 60_000, over.signal);
  const call = () => engine.calls.call({ projectId: t.projectId, toolName: "echo", arguments: {} }, 60_000);
  for (let round = 0; round < 3; round++) expect((await call()).status).toBe("success");
  let best: readonly string[] = [];
  for (let window = 0; window < WINDOWS && (window === 0 || best.length > MOST * ROUNDS); window++) {
    const counted = countStatements([engine]);
    for (let round = 0; round < ROUNDS; round++) expect((await call()).status).toBe("success");
    // Rings to other processes are no part of the call; without the time it takes to know that there are none they are sent.
    const names = counted.names().filter((name) => name !== "notify");
    if (window === 0 || names.length < best.length) best = names;
  }
  expect(best.length, best.join(" ")).toBeLessThanOrEqual(MOST * ROUNDS);
  expect(best).not.toContain("calls.read");
  over.abort();
  await bundled;
});
