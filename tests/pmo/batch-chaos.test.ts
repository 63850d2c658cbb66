// Whatever children do, in whatever order, and whoever looks: a batch ends once, its call has one result, no child runs
// on, and every task says what its child's turn says.

import { batchIdOf, type Engine } from "@toolplane/engine";
import { queryTestDatabase } from "@toolplane/testkit";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fork, letPass, tasks } from "./fork.ts";
import { RESULTS_OF } from "./pmo-world.sql.ts";
import { type PmoWorld, PROJECT, startPmoWorld } from "./pmo-world.ts";

const TASKS = 4;
const RUNS = 30;

type Act = "finish" | "fail" | "suspend" | "stop" | "sweep here" | "sweep there" | "deadline" | "cancel";

const task = fc.nat({ max: TASKS - 1 });
const act = fc.record({
  what: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom<Act>("finish", "fail", "suspend", "stop") },
    { weight: 3, arbitrary: fc.constantFrom<Act>("sweep here", "sweep there") },
    { weight: 1, arbitrary: fc.constantFrom<Act>("deadline", "cancel") },
  ),
  task,
});
const story = fc.record({
  failFast: fc.boolean(),
  acts: fc.array(fc.array(act, { minLength: 1, maxLength: 3 }), { maxLength: 6 }),
});

let world: PmoWorld;
let other: Engine;
let bosses = 0;

beforeAll(async () => {
  world = await startPmoWorld();
  other = await world.test.another();
});
afterAll(async () => world[Symbol.asyncDispose]());

/** What a child can no longer do, because it has ended or waits, it does not do. */
const ifItCan = (work: Promise<unknown>): Promise<unknown> => work.catch(() => undefined);

test("[UTP-11.6-7] [UTP-11.6-10] [INV-I1] a batch ends once, with every task and child at rest", {
  timeout: 180_000,
}, async () => {
  const run = async ({ failFast, acts }: { failFast: boolean; acts: { what: Act; task: number }[][] }) => {
    const boss = `boss_${++bosses}`;
    await world.engine.agents.upsertAgent(PROJECT, { agent_id: boss, profile_name: "Boss" });
    const forked = await fork(world, { tasks: tasks(TASKS), fail_fast: failFast }, boss);
    const { toolCallId, batchId, agents, view } = forked;
    const perform = (what: Act, index: number): Promise<unknown> => {
      const agentId = agents[index] ?? "";
      switch (what) {
        case "finish":
          return world.finish(agentId);
        case "fail":
          return world.finish(agentId, { status: "failed", error: "it broke" });
        case "suspend":
          return world.suspend(agentId);
        case "stop":
          return world
            .children(forked.agentTurnId)
            .then((children) => children.find((child) => child.agentId === agentId))
            .then((child) =>
              world.engine.turns.stop({
                projectId: PROJECT,
                agentTurnId: child?.agentTurnId ?? "",
                actorId: "sys.test",
              }),
            );
        case "sweep here":
          return world.engine.batches.sweep();
        case "sweep there":
          return other.batches.sweep();
        case "deadline":
          return letPass(world, batchId, "deadline");
        case "cancel":
          return world.engine.calls.cancel({ projectId: PROJECT, toolCallId });
      }
    };
    // Those of one group happen at the same time.
    for (const group of acts) await Promise.all(group.map(({ what, task: index }) => ifItCan(perform(what, index))));
    await letPass(world, batchId, "deadline");
    await Promise.all([world.engine.batches.sweep(), other.batches.sweep()]);
    await world.engine.batches.sweep();

    const batch = await view();
    expect(batch.endedAt).not.toBeNull();
    expect(batchIdOf(toolCallId)).toBe(batch.batchId);
    const [counts] = await queryTestDatabase(world.test.database.url, RESULTS_OF, [toolCallId]);
    expect(counts).toEqual({ cards: 1, inbox: 1, settled: 1 });
    const { status, author, result } = await world.resultOf(toolCallId);
    if (author === "sys.pmo.batch_manager") {
      expect(status).toBe(batch.status);
      expect((result.results as readonly { status: string }[]).map((one) => one.status)).toEqual(
        batch.tasks.map((one) => one.status),
      );
    } else expect(status).toBe("canceled");
    const children = new Map((await world.children(forked.agentTurnId)).map((child) => [child.agentTurnId, child]));
    expect(children.size).toBe(TASKS);
    for (const one of batch.tasks) {
      const child = children.get(one.agentTurnId ?? "");
      expect(child?.endedAt).not.toBeNull();
      expect(one.status === "canceled" ? child?.errorCode : child?.status).toBe(
        one.status === "canceled" ? "stopped" : one.status,
      );
    }
  };
  await fc.assert(fc.asyncProperty(story, run), { numRuns: RUNS, endOnFailure: true });
});
