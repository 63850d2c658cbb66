// A manager dies by SIGKILL at each commit of a delegation and of a batch; another comes and finishes. Whatever the
// moment: the same children, each once, one result per call, and the same words in it.

import { batchIdOf, stepIdOf } from "@toolplane/engine";
import { BATCH_FAULT_POINTS, type FaultPoint } from "@toolplane/engine/internal";
import { spawnGuarded } from "@toolplane/processes";
import { programArgv, programEnv, queryTestDatabase } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";
import { INSTRUCTIONS, startPmoLife } from "./pmo-life.ts";
import { RESULTS_OF, TASK_EVENTS, TURNS_LIKE } from "./pmo-world.sql.ts";
import { BOSS, type PmoWorld, PROJECT, startPmoWorld, WORKER } from "./pmo-world.ts";

const PROGRAM = new URL("./programs/pmo-process.ts", import.meta.url);

/** In the middle of things where there are several. */
const HIT: Partial<Record<FaultPoint, number>> = { "child:before-commit": 3, "child:after-commit": 3 };

interface Outcome {
  readonly died: readonly (string | null)[];
  readonly result: unknown;
  readonly children: readonly unknown[];
  readonly delegated: number;
  readonly events: number;
  readonly counts: unknown;
  readonly parent: string;
}

/** The boss hands one task over and forks five, in one step. */
const ask = async (world: PmoWorld) => {
  const context = { instruction: "manage" };
  await world.engine.turns.spawn({ projectId: PROJECT, agentId: BOSS, sourceAgentId: "sys.test", context });
  const work = await world.takeWork(BOSS);
  const stepId = stepIdOf(work.agentTurnId, 1);
  await world.engine.turns.beginStep(work, stepId);
  const tasks = INSTRUCTIONS.map((instruction) => ({ ...WORKER, instruction }));
  const { calls } = await world.engine.turns.commitStep(work, {
    stepId,
    entries: [
      { call: { toolName: "delegate_async", arguments: { ...WORKER } } },
      { call: { toolName: "fork_join", arguments: { tasks, fail_fast: true } } },
    ],
  });
  return { agentTurnId: work.agentTurnId, forkId: calls[1]?.toolCallId ?? "", delegateId: calls[0]?.toolCallId ?? "" };
};

/** One life that ends at a point; what ended it. */
const dieAt = async (world: PmoWorld, agentTurnId: string, point: FaultPoint): Promise<string | null> => {
  const faults = [{ point, hit: HIT[point] ?? 1, act: "kill" }];
  const config = JSON.stringify({ databaseUrl: world.test.database.url, faults });
  const victim = await spawnGuarded([...programArgv(PROGRAM), config], {
    label: `manager dying at ${point}`,
    env: programEnv(),
    stdio: ["pipe", "ignore", "inherit"],
  });
  // A point that is not reached leaves it alive until the boss has delivered: a failure of the test.
  const over = new AbortController();
  const missed = world.engine.turns.wait({ projectId: PROJECT, agentTurnId }, 60_000, over.signal);
  void missed.then(() => victim.child.stdin?.end());
  const { signal } = await victim.exited;
  over.abort();
  await missed;
  return signal;
};

const dieAndRecover = async (points: readonly FaultPoint[]): Promise<Outcome> => {
  await using world = await startPmoWorld();
  const { url } = world.test.database;
  const { agentTurnId, forkId, delegateId } = await ask(world);
  const died: (string | null)[] = [];
  for (const point of points) died.push(await dieAt(world, agentTurnId, point));
  await using life = await startPmoLife(url);
  await life.engine.turns.wait({ projectId: PROJECT, agentTurnId }, 60_000);
  const { result } = await world.resultOf(forkId);
  const batch = await life.engine.batches.get({ projectId: PROJECT, batchId: batchIdOf(forkId) });
  const children = await queryTestDatabase(url, TURNS_LIKE, ["batch_%"]);
  const delegated = await queryTestDatabase(url, TURNS_LIKE, ["delegate_%"]);
  const events = await queryTestDatabase(url, TASK_EVENTS);
  const counts = await Promise.all([forkId, delegateId].map((id) => queryTestDatabase(url, RESULTS_OF, [id])));
  const results = result.results as readonly Readonly<Record<string, unknown>>[] | undefined;
  return {
    died,
    result: {
      status: result.status,
      batch: batch?.status,
      results: results?.map(({ task_index, status, summary, error }) => ({ task_index, status, summary, error })),
    },
    children: children.map(({ status }) => status),
    delegated: delegated.length,
    events: Math.max(...events.map((row) => Number(row.events))),
    counts: counts.flat(),
    parent: (await world.turn(agentTurnId)).status,
  };
};

const EXPECTED = {
  result: {
    status: "failed",
    batch: "failed",
    results: [
      { task_index: 0, status: "success", summary: "part 0: done", error: undefined },
      { task_index: 1, status: "success", summary: "part 1: done", error: undefined },
      { task_index: 2, status: "canceled", summary: undefined, error: "fail_fast" },
      { task_index: 3, status: "success", summary: "part 3: done", error: undefined },
      { task_index: 4, status: "failed", summary: expect.any(String), error: "it broke" },
    ],
  },
  children: ["success", "success", "failed", "success", "failed"],
  delegated: 1,
  events: 1,
  counts: [
    { cards: 1, inbox: 1, settled: 1 },
    { cards: 1, inbox: 1, settled: 1 },
  ],
  parent: "success",
};

const before = BATCH_FAULT_POINTS.filter((point) => point.includes(":before-"));
const after = BATCH_FAULT_POINTS.filter((point) => point.includes(":after-"));

describe("a manager", () => {
  test.concurrent.each([
    ["that lives", []],
    ["[UTP-W27-R4] [INV-I1] that dies before each commit, one life after the other", before],
    ["[UTP-W27-R4] [INV-I1] that dies after each commit, one life after the other", after],
  ] as const)("%s", { timeout: 240_000 }, async (_name, points) => {
    expect(await dieAndRecover(points)).toEqual({ died: points.map(() => "SIGKILL"), ...EXPECTED });
  });

  test("every point is died at", () => {
    expect([...before, ...after].sort()).toEqual([...BATCH_FAULT_POINTS].sort());
  });
});
