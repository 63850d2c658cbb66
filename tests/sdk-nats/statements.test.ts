// What a lone call costs in statements where NATS carries its command and its events: pinned.

import { systemClock } from "@toolplane/engine";
import { defineTool } from "@toolplane/sdk";
import { countStatements } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { openWorld } from "./world.ts";

/** What a call leaves to be done after its answer is counted with the next one. */
const ROUNDS = 5;
/** A call may be answered while the relay is at the batch of its lease: the best of a few windows counts. */
const WINDOWS = 5;
/** Dispatch, lease and settlement, and one of the relay for what each of them told; one to spare. */
const MOST = 7;

const untilAborted = (signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) resolve();
    signal?.addEventListener("abort", () => resolve(), { once: true });
  });

/** Nothing is done because a second or less is over: what is counted was rung for. */
const patient = {
  ...systemClock,
  sleep: (ms: number, signal?: AbortSignal) => (ms <= 1_000 ? untilAborted(signal) : systemClock.sleep(ms, signal)),
};

const echo = defineTool({
  name: "echo",
  description: "Say it again",
  parameters: { type: "object", properties: {} } as const,
  retry: "safe",
  run: async () => ({ ok: true }),
});

test("[ENG-few-8] over NATS a lone call takes seven statements at most, none reads it, and services of other targets do not look", async () => {
  await using world = await openWorld({ watchdog: false, clock: patient });
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
  expect(best.filter((name) => ["calls.read", "calls.projects-with-work"].includes(name))).toEqual([]);
  over.abort();
  await bundled;
});
