// Children that cannot be made, and several processes that look at one batch.

import { batchIdOf, type Engine, type Turns } from "@toolplane/engine";
import { ToolplaneError } from "@toolplane/protocol";
import { queryTestDatabase } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";
import { fork, letPass, tasks } from "./fork.ts";
import { NEXT_ATTEMPTS, RESULTS_OF } from "./pmo-world.sql.ts";
import { BOSS, PROJECT, startPmoWorld, WORKER } from "./pmo-world.ts";

/** The engine's turns, whose spawn fails as long as it is told to. */
const stumble = (engine: Engine, fail: () => ToolplaneError | undefined): void => {
  const turns = engine.turns as { spawn: Turns["spawn"] };
  const spawn = turns.spawn.bind(engine.turns);
  turns.spawn = async (request, tx) => {
    const error = request.correlationId?.startsWith("batch_") === true ? fail() : undefined;
    if (error !== undefined) throw error;
    return spawn(request, tx);
  };
};

describe("tasks that cannot be dispatched", () => {
  test("[UTP-11.6-3] [UTP-2.7-R1] the depth limit fails them at once, and says so", async () => {
    await using world = await startPmoWorld({ turns: { maxDepth: 1 } });
    const { toolCallId } = await fork(world, { tasks: tasks(2) });
    const { status, result } = await world.resultOf(toolCallId);
    expect(status).toBe("failed");
    expect(result).toMatchObject({
      results: [0, 1].map((task_index) => ({
        task_index,
        status: "failed",
        error: "dispatch_rejected:recursion_depth_exceeded",
      })),
    });
  });

  test("[UTP-11.6-3] busy is tried again, later and later, and given up after the fifth time", async () => {
    await using world = await startPmoWorld();
    stumble(world.engine, () => new ToolplaneError("agent_busy", "later"));
    const { toolCallId, batchId } = await fork(world, { tasks: tasks(1) });
    const seen: unknown[] = [];
    for (let rounds = 0; rounds < 4; rounds++) {
      const [row] = await queryTestDatabase(world.test.database.url, NEXT_ATTEMPTS, [batchId]);
      seen.push([row?.attempts, row?.seconds]);
      expect(await world.engine.batches.sweep()).toEqual({ looked: 0, failed: 0 });
      await letPass(world, batchId, "retry");
      await world.engine.batches.sweep();
    }
    expect(seen).toEqual([
      [1, 2],
      [2, 4],
      [3, 8],
      [4, 16],
    ]);
    expect(await world.resultOf(toolCallId)).toMatchObject({
      status: "failed",
      result: { results: [{ status: "failed", error: "dispatch_retry_exhausted" }] },
    });
  });

  test("[LIM-delegated] while they wait for their next attempt they count as turns that were given to others", async () => {
    await using world = await startPmoWorld();
    await world.engine.projects.patchProject(PROJECT, { limits: { delegated_turns: 2 } });
    stumble(world.engine, () => new ToolplaneError("agent_busy", "later"));
    const { view } = await fork(world, { tasks: tasks(2) });
    expect((await view()).tasks.map(({ status }) => status)).toEqual(["pending", "pending"]);
    const asked = { projectId: PROJECT, toolName: "delegate_async", arguments: WORKER, agentId: BOSS };
    const { toolCallId } = await world.engine.calls.dispatch(asked);
    await world.serve();
    expect((await world.resultOf(toolCallId)).error).toMatchObject({ code: "rate_limited" });
  });

  test("[UTP-11.6-3] one that succeeds in the end is a child like any other", async () => {
    await using world = await startPmoWorld();
    let failures = 1;
    stumble(world.engine, () => (failures-- > 0 ? new ToolplaneError("internal_error", "oops") : undefined));
    const { toolCallId, batchId, agents } = await fork(world, { tasks: tasks(1) });
    await letPass(world, batchId, "retry");
    await world.engine.batches.sweep();
    await world.finish(agents[0] ?? "");
    await world.engine.batches.sweep();
    expect((await world.resultOf(toolCallId)).status).toBe("success");
  });
});

describe("a batch that cannot be moved on", () => {
  test("holds no other up, and is counted", async () => {
    await using world = await startPmoWorld();
    const broken = await fork(world, { tasks: tasks(1) });
    await world.engine.agents.upsertAgent(PROJECT, { agent_id: "boss_2", profile_name: "Boss" });
    const asked = await world.ask("fork_join", { tasks: tasks(1) }, "boss_2");
    await world.serve();
    const turns = world.engine.turns as { stop: Turns["stop"] };
    const stop = turns.stop.bind(world.engine.turns);
    const [child] = await world.children(broken.agentTurnId);
    turns.stop = async (request, tx) => {
      if (request.agentTurnId === child?.agentTurnId) throw new ToolplaneError("storage_error", "not now");
      return stop(request, tx);
    };
    await letPass(world, broken.batchId, "deadline");
    await letPass(world, batchIdOf(asked.toolCallId), "deadline");
    expect(await world.engine.batches.sweep()).toEqual({ looked: 2, failed: 1 });
    expect((await world.resultOf(asked.toolCallId)).status).toBe("timeout");
    expect((await world.resultOf(broken.toolCallId)).status).toBe("running");
    turns.stop = stop;
    await world.engine.batches.sweep();
    expect((await world.resultOf(broken.toolCallId)).status).toBe("timeout");
  });
});

describe("many managers", () => {
  test("[UTP-11.6-7] [INV-I1] of several that end one batch one wins, and there is one result", async () => {
    await using world = await startPmoWorld();
    const others = [await world.test.another(), await world.test.another()];
    for (let rounds = 0; rounds < 5; rounds++) {
      const { toolCallId, agents } = await fork(world, { tasks: tasks(4) });
      for (const agent of agents) await world.finish(agent);
      await Promise.all([world.engine, ...others].map(({ batches }) => batches.sweep()));
      const [counts] = await queryTestDatabase(world.test.database.url, RESULTS_OF, [toolCallId]);
      expect(counts).toEqual({ cards: 1, inbox: 1, settled: 1 });
      expect((await world.resultOf(toolCallId)).status).toBe("success");
      await world.finish(BOSS);
    }
  });

  test("[UTP-11.6-7] closing from several sides ends it once", async () => {
    await using world = await startPmoWorld();
    const other = await world.test.another();
    const { toolCallId, agents, batchId } = await fork(world, { tasks: tasks(6), fail_fast: true });
    await world.finish(agents[0] ?? "", { status: "failed", error: "it broke" });
    await letPass(world, batchId, "deadline");
    await Promise.all([world.engine.batches.sweep(), other.batches.sweep(), world.engine.batches.sweep()]);
    await world.engine.batches.sweep();
    const [counts] = await queryTestDatabase(world.test.database.url, RESULTS_OF, [toolCallId]);
    expect(counts).toEqual({ cards: 1, inbox: 1, settled: 1 });
    expect((await world.resultOf(toolCallId)).status).toBe("failed");
  });
});
