// NATS goes away in the middle: restarted, then wiped. PostgreSQL holds the truth, so nothing is lost.

import { defineTool } from "@toolplane/sdk";
import { expect, test } from "vitest";
import { createGate, createRecordingLog, openWorld } from "./world.ts";

test("[API-5-N5] [API-5-N6] NATS is restarted, then wiped: what runs is handed over, what waits runs, each once", async () => {
  await using world = await openWorld();
  const log = createRecordingLog();
  const runs: string[] = [];
  const gates = new Map([1, 2].map((round) => [round, { begun: createGate(), end: createGate() }]));
  const tool = defineTool({
    name: "steady",
    description: "Ends when it is told to, or at once",
    parameters: { type: "object", properties: { round: { type: "integer" } } } as const,
    run: async ({ round }, { call }) => {
      runs.push(call.toolCallId);
      const gate = round === undefined ? undefined : gates.get(round);
      gate?.begun.open();
      await gate?.end.whenOpen;
      return round ?? "quick";
    },
  });
  await using _serving = await world.serve([tool], { target: "steady", log });
  const ids: string[] = [];
  for (const [round, lose] of [
    [1, world.nats.restart],
    [2, world.nats.wipe],
  ] as const) {
    const held = await world.dispatch("steady", { round });
    await gates.get(round)?.begun.whenOpen;
    await world.nats.kill();
    gates.get(round)?.end.open();
    const waiting = await Promise.all([1, 2, 3].map(() => world.dispatch("steady")));
    await lose();
    ids.push(held, ...waiting);
    for (const id of [held, ...waiting]) expect(await world.until(id, "success")).toMatchObject({ attempts: 1 });
  }
  expect(runs.sort()).toEqual(ids.sort());
  const said = log.messages.filter((message) => message === "this service could not ask for calls; it tries again");
  expect(said.length).toBeLessThanOrEqual(2);
});
