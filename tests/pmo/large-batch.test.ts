// A fork_join of 200 children: made, thought for, joined and settled by several at once.

import { batchIdOf } from "@toolplane/engine";
import { queryTestDatabase } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { RESULTS_OF, TASK_EVENTS, TURNS_LIKE } from "./pmo-world.sql.ts";
import { PROJECT, startPmoWorld, WORKER } from "./pmo-world.ts";

const COUNT = 200;

test("[UTP-11.6-R7] 200 children: every one is made once, and the result has them all in order", {
  timeout: 120_000,
}, async () => {
  await using world = await startPmoWorld({ forkJoinTasks: COUNT });
  const other = await world.test.another();
  const tasks = Array.from({ length: COUNT }, (_, index) => ({ ...WORKER, instruction: `part ${index}` }));
  const asked = await world.ask("fork_join", { tasks });
  const [leased] = await world.claim();
  if (leased === undefined) throw new RangeError("nothing was leased");
  await world.run(leased);
  // Both processes make children at the same time.
  const key = { projectId: PROJECT, batchId: batchIdOf(asked.toolCallId) };
  await Promise.all([world.engine.batches.advance(key), other.batches.advance(key)]);
  const batch = await world.engine.batches.get(key);
  expect(batch?.tasks.filter(({ status }) => status === "dispatched")).toHaveLength(COUNT);
  expect(await queryTestDatabase(world.test.database.url, TURNS_LIKE, ["batch_%"])).toHaveLength(COUNT);

  await Promise.all(
    (batch?.tasks ?? []).map(({ agentId, taskIndex }) =>
      world.finish(agentId, { deliverable: `part ${taskIndex} is done` }),
    ),
  );
  await Promise.all([world.engine.batches.sweep(), other.batches.sweep()]);
  await world.engine.batches.sweep();
  const { status, result } = await world.resultOf(asked.toolCallId);
  expect(status).toBe("success");
  const results = result.results as readonly { readonly task_index: number; readonly summary: string }[];
  expect(results.map(({ task_index, summary }) => [task_index, summary])).toEqual(
    tasks.map(({ instruction }, index) => [index, `${instruction} is done`]),
  );
  const [counts] = await queryTestDatabase(world.test.database.url, RESULTS_OF, [asked.toolCallId]);
  expect(counts).toEqual({ cards: 1, inbox: 1, settled: 1 });
  const events = await queryTestDatabase(world.test.database.url, TASK_EVENTS);
  expect(events.filter((row) => row.events === 1)).toHaveLength(COUNT);
});
