// fork_join through the runner, on a real engine: opened, dispatched, joined, and its caller resumed.

import { batchIdOf } from "@toolplane/engine";
import { codeOf, letPass, queryTestDatabase } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";
import { JOIN_EDGES, LEFT_BEHIND, RESULTS_OF, TURNS_LIKE } from "./pmo-world.sql.ts";
import { BOSS, type PmoWorld, PROJECT, startPmoWorld, WORKER } from "./pmo-world.ts";

const three = { tasks: ["one", "two", "three"].map((instruction) => ({ ...WORKER, instruction })) };

const batchOf = async (world: PmoWorld, toolCallId: string) => {
  const batch = await world.engine.batches.get({ projectId: PROJECT, batchId: batchIdOf(toolCallId) });
  if (batch === undefined) throw new RangeError("there is no batch");
  return batch;
};

const agentsOf = async (world: PmoWorld, toolCallId: string): Promise<readonly string[]> =>
  (await batchOf(world, toolCallId)).tasks.map(({ agentId }) => agentId);

describe("a batch that goes well", () => {
  test("[UTP-11.6-2] [UTP-11.6-8] the caller stays suspended until every child has delivered, then has one result", async () => {
    await using world = await startPmoWorld();
    const asked = await world.ask("fork_join", three);
    expect(await world.serve()).toEqual([{ outcome: "deferred", toolCallId: asked.toolCallId, toolName: "fork_join" }]);
    const agents = await agentsOf(world, asked.toolCallId);
    expect(await world.children(asked.agentTurnId)).toHaveLength(3);
    expect((await world.turn(asked.agentTurnId)).status).toBe("suspended");

    for (const [index, agentId] of [...agents.entries()].reverse()) {
      expect((await world.resultOf(asked.toolCallId)).status).toBe("running");
      await world.finish(agentId, { deliverable: `result ${index}` });
      await world.engine.batches.sweep();
    }
    const { status, author, result, error } = await world.resultOf(asked.toolCallId);
    expect([status, author, error]).toEqual(["success", "sys.pmo.batch_manager", null]);
    expect(result).toMatchObject({
      status: "success",
      results: [0, 1, 2].map((index) => ({
        task_index: index,
        status: "success",
        summary: `result ${index}`,
        output_box_id: expect.any(String),
        agent_id: agents[index],
      })),
    });
    const resumed = await world.takeWork(BOSS);
    expect(resumed.agentTurnId).toBe(asked.agentTurnId);
    const [counts] = await queryTestDatabase(world.test.database.url, RESULTS_OF, [asked.toolCallId]);
    expect(counts).toEqual({ cards: 1, inbox: 1, settled: 1 });
  });

  test("[UTP-11.6-R4] a join edge when it begins and one when it ends, at the caller's depth", async () => {
    await using world = await startPmoWorld();
    const asked = await world.ask("fork_join", { tasks: [WORKER] });
    await world.serve();
    const [agentId = ""] = await agentsOf(world, asked.toolCallId);
    await world.finish(agentId);
    await world.engine.batches.sweep();
    const target = { target_agent_id: BOSS, target_turn_id: asked.agentTurnId, recursion_depth: 0 };
    const edges = await queryTestDatabase(world.test.database.url, JOIN_EDGES, [batchIdOf(asked.toolCallId)]);
    expect(edges).toEqual([
      { edge_phase: "request", source_agent_id: "sys.pmo", ...target },
      { edge_phase: "response", source_agent_id: "sys.pmo.batch_manager", ...target },
    ]);
  });

  test("children begin traces of their own and are one deeper", async () => {
    await using world = await startPmoWorld();
    const asked = await world.ask("fork_join", three);
    await world.serve();
    const parent = await world.turn(asked.agentTurnId);
    const children = await world.children(asked.agentTurnId);
    expect(new Set([parent.traceId, ...children.map(({ traceId }) => traceId)]).size).toBe(4);
    expect(children.map(({ recursionDepth }) => recursionDepth)).toEqual([1, 1, 1]);
  });

  test("[UTP-11.6-9] a child that ended before anybody looked is not lost", async () => {
    await using world = await startPmoWorld();
    const asked = await world.ask("fork_join", { tasks: [WORKER] });
    const [leased] = await world.claim();
    if (leased === undefined) throw new RangeError("nothing was leased");
    await world.run(leased);
    await world.engine.batches.drain();
    const [child] = await world.children(asked.agentTurnId);
    await world.finish(child?.agentId ?? "");
    // Another process, which was told nothing.
    const other = await world.test.another();
    await other.batches.sweep();
    expect((await world.resultOf(asked.toolCallId)).status).toBe("success");
  });

  test("[UTP-11.6-R6] the end of a task brings the result without waiting for a watchdog", async () => {
    await using world = await startPmoWorld();
    const listening = await world.pmo.listen();
    const asked = await world.ask("fork_join", { tasks: [WORKER] });
    await world.serve();
    const [agentId = ""] = await agentsOf(world, asked.toolCallId);
    await world.finish(agentId);
    expect(await world.engine.calls.wait({ projectId: PROJECT, toolCallId: asked.toolCallId }, 20_000)).toBe(true);
    await listening.stop();
    expect((await world.resultOf(asked.toolCallId)).status).toBe("success");
  });

  test("agents of all three kinds work for one batch; a direct call may wait for one too", async () => {
    await using world = await startPmoWorld();
    await world.engine.agents.upsertAgent(PROJECT, { agent_id: "w1", profile_name: "Worker" });
    await world.engine.turns.spawn({
      projectId: PROJECT,
      agentId: "w1",
      sourceAgentId: "sys.test",
      context: { instruction: "warm up" },
    });
    await world.finish("w1");
    const tasks = [
      WORKER,
      { ...WORKER, target_strategy: "reuse", target_ref: "w1" },
      { ...WORKER, target_strategy: "clone", target_ref: "w1" },
    ];
    const direct = { projectId: PROJECT, agentId: BOSS, toolName: "fork_join", arguments: { tasks } };
    const { toolCallId } = await world.engine.calls.dispatch(direct);
    await world.serve();
    for (const agentId of await agentsOf(world, toolCallId)) await world.finish(agentId);
    await world.engine.batches.sweep();
    expect((await world.resultOf(toolCallId)).result).toMatchObject({ status: "success" });
    expect((await agentsOf(world, toolCallId))[1]).toBe("w1");
  });
});

describe("what fork_join refuses", () => {
  test.each<[string, Record<string, unknown>, string]>([
    ["a profile the caller may not use", { ...WORKER, target_ref: "Chef" }, "auth_failed"],
    ["a profile that does not exist", { ...WORKER, target_ref: "Nobody" }, "not_found"],
    ["a box that is not the caller's", { ...WORKER, context_box_id: "not-yours" }, "bad_request"],
    ["the caller itself", { ...WORKER, target_strategy: "reuse", target_ref: BOSS }, "bad_request"],
  ])("[UTP-11.6-1] one bad task among good ones, %s: no child, no batch", async (_name, bad, code) => {
    await using world = await startPmoWorld();
    const asked = await world.ask("fork_join", { tasks: [WORKER, bad as typeof WORKER, WORKER] });
    const before = await queryTestDatabase(world.test.database.url, LEFT_BEHIND);
    expect(await world.serve()).toMatchObject([{ outcome: "settled", status: "failed", code }]);
    const { error, author } = await world.resultOf(asked.toolCallId);
    expect(error).toMatchObject({ code, message: expect.stringContaining("fork_join: invalid args.tasks[1]") });
    expect(author).toBe("sys.pmo");
    expect(await queryTestDatabase(world.test.database.url, LEFT_BEHIND)).toEqual(before);
  });

  test("[UTP-11.6-1] more tasks than the limit", async () => {
    await using world = await startPmoWorld({ forkJoinTasks: 2 });
    await expect(world.call("fork_join", three)).rejects.toMatchObject({
      code: "bad_request",
      message: "fork_join: invalid args.tasks: must have at most 2 items",
    });
  });

  test("a deadline beyond all measure", async () => {
    await using world = await startPmoWorld();
    const { error } = await world.call("fork_join", { tasks: [WORKER], deadline_seconds: 1e9 });
    expect(error).toMatchObject({ code: "bad_request", message: expect.stringContaining("args.deadline_seconds") });
  });
});

describe("the call of a batch", () => {
  test("[UTP-11.6-11] [UTP-W26-R2] is in the batch's hands, with a deadline beyond the batch's", async () => {
    await using world = await startPmoWorld();
    const asked = await world.ask("fork_join", { tasks: [WORKER], deadline_seconds: 5_000 });
    const [leased] = await world.claim();
    if (leased === undefined) throw new RangeError("nothing was leased");
    await world.run(leased);
    await world.engine.batches.drain();
    const key = { projectId: PROJECT, toolCallId: asked.toolCallId };
    const view = await world.engine.calls.get(key);
    const batch = await batchOf(world, asked.toolCallId);
    expect(view).toMatchObject({ status: "running", leaseHolder: `batch:${batch.batchId}` });
    expect(view.runDeadline?.getTime()).toBeGreaterThan(batch.deadlineAt.getTime());
    expect(view.leaseExpiresAt?.getTime()).toBeGreaterThan(batch.deadlineAt.getTime());
    // INV-I6: the service that handed it over has no say any more.
    const old = { ...key, leaseId: leased.lease.id };
    expect(await codeOf(world.engine.calls.heartbeat(old))).toBe("lease_lost");
    expect(await codeOf(world.engine.calls.release(old))).toBe("lease_lost");
    const settle = { ...old, actorId: "sys.pmo", outcome: { given: { status: "success", result: {} } } };
    expect(await codeOf(world.engine.calls.settle(settle))).toBe("lease_lost");
  });

  test("[UTP-11.1-8] [UTP-W27-R3] a run that was not told of its commit defers to the batch it made", async () => {
    await using world = await startPmoWorld();
    const asked = await world.ask("fork_join", three);
    const [leased] = await world.claim();
    if (leased === undefined) throw new RangeError("nothing was leased");
    const other = await world.test.another();
    const reports = await Promise.all([world.run(leased), world.run(leased, other)]);
    expect(reports.map(({ outcome }) => outcome)).toEqual(["deferred", "deferred"]);
    await Promise.all([world.engine.batches.drain(), other.batches.drain()]);
    expect(await world.children(asked.agentTurnId)).toHaveLength(3);
    const made = await queryTestDatabase(world.test.database.url, TURNS_LIKE, ["batch_%"]);
    expect(new Set(made.map(({ correlation_id }) => correlation_id)).size).toBe(3);
  });

  test("[INV-I1] settles by its deadline when no manager ever comes, and the batch follows", async () => {
    await using world = await startPmoWorld();
    const asked = await world.ask("fork_join", { tasks: [WORKER] });
    await world.serve();
    await letPass(world.test, asked.toolCallId, "run");
    await world.engine.expire();
    expect(await world.resultOf(asked.toolCallId)).toMatchObject({
      status: "timeout",
      error: { code: "tool_timeout" },
    });
    await world.engine.batches.sweep();
    expect(await batchOf(world, asked.toolCallId)).toMatchObject({
      endedAt: expect.any(Date),
      tasks: [{ status: "canceled", error: "parent_ended" }],
    });
    expect((await world.children(asked.agentTurnId))[0]?.status).toBe("failed");
  });
});
