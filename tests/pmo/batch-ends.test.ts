// How batches end when not everything goes well: haste, deadlines, refusals, callers that leave.

import { queryTestDatabase } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";
import { fork, letPass, tasks } from "./fork.ts";
import { BATCH_ROWS, RESULTS_OF, TASK_EVENTS } from "./pmo-world.sql.ts";
import { BOSS, type PmoWorld, PROJECT, startPmoWorld, WORKER } from "./pmo-world.ts";

describe("fail_fast", () => {
  test("[UTP-11.6-4] [UTP-11.6-10] [UTP-W04-T1] [UTP-W05-T1] the first failure stops the running, cancels the queued and ends the batch", async () => {
    await using world = await startPmoWorld();
    await world.engine.agents.upsertAgent(PROJECT, { agent_id: "busy", profile_name: "Worker" });
    await world.engine.turns.spawn({
      projectId: PROJECT,
      agentId: "busy",
      sourceAgentId: "sys.test",
      context: { instruction: "something else" },
    });
    const queued = { ...WORKER, target_strategy: "reuse", target_ref: "busy" };
    const { toolCallId, agentTurnId, agents } = await fork(world, { tasks: [...tasks(3), queued], fail_fast: true });
    const [thinking = "", waiting = "", failing = ""] = agents;
    const work = await world.takeWork(thinking);
    const slowCall = await world.suspend(waiting);
    await world.finish(failing, { status: "failed", error: "it broke", errorCode: "tool_error" });
    await world.engine.batches.sweep();

    const { status, result, error } = await world.resultOf(toolCallId);
    expect([status, error?.code]).toEqual(["failed", "batch_failed"]);
    expect(result).toMatchObject({
      status: "failed",
      results: [
        { task_index: 0, status: "canceled", error: "fail_fast" },
        { task_index: 1, status: "canceled", error: "fail_fast" },
        { task_index: 2, status: "failed", error: "tool_error" },
        { task_index: 3, status: "canceled", error: "fail_fast" },
      ],
    });
    // W-04, W-05: they really are stopped, the one that thinks, the one that waits for a tool and the one in the queue.
    const children = await world.children(agentTurnId);
    expect(children.map((child) => child.errorCode).sort()).toEqual(["stopped", "stopped", "stopped", "tool_error"]);
    expect(await world.engine.turns.heartbeat([work])).toEqual([work]);
    expect((await world.engine.calls.get({ projectId: PROJECT, toolCallId: slowCall })).status).toBe("canceled");
    const [own] = (await world.engine.turns.list(PROJECT, { agentId: "busy" })).items.filter(
      ({ parentAgentId }) => parentAgentId === null,
    );
    expect(own?.status).toBe("dispatched");
  });

  test("[UTP-11.6-4] without it the others go on, and what they found is kept", async () => {
    await using world = await startPmoWorld();
    const { toolCallId, agents } = await fork(world, { tasks: tasks(2) });
    await world.finish(agents[0] ?? "", { status: "failed", error: "it broke" });
    await world.engine.batches.sweep();
    expect((await world.resultOf(toolCallId)).status).toBe("running");
    await world.finish(agents[1] ?? "", { deliverable: { fields: [{ name: "words", value: "7" }] } });
    await world.engine.batches.sweep();
    const { status, result, error } = await world.resultOf(toolCallId);
    expect(status).toBe("partial");
    expect(result).toMatchObject({
      results: [
        { status: "failed", error: "it broke" },
        { status: "success", summary: "words: 7" },
      ],
    });
    expect(error).toMatchObject({ code: "batch_failed", detail: { status: "partial" } });
  });
});

describe("a child that nobody begins", () => {
  const waiting = async (world: PmoWorld, fail_fast: boolean) => {
    await world.engine.agents.upsertAgent(PROJECT, { agent_id: "busy", profile_name: "Worker" });
    const context = { instruction: "something else" };
    await world.engine.turns.spawn({ projectId: PROJECT, agentId: "busy", sourceAgentId: "sys.test", context });
    const queued = { ...WORKER, target_strategy: "reuse", target_ref: "busy" };
    const forked = await fork(world, { tasks: [queued, ...tasks(1)], fail_fast });
    await letPass(world, forked.batchId, "patience");
    await world.engine.batches.sweep();
    return forked;
  };

  test("[UTP-11.6-R8] fails the batch where haste was asked for", async () => {
    await using world = await startPmoWorld();
    const { toolCallId, agentTurnId } = await waiting(world, true);
    const { status, result } = await world.resultOf(toolCallId);
    expect(status).toBe("failed");
    expect(result).toMatchObject({
      results: [
        { status: "failed", error: "downstream_unavailable" },
        { status: "canceled", error: "fail_fast" },
      ],
    });
    expect((await world.children(agentTurnId)).every(({ endedAt }) => endedAt !== null)).toBe(true);
  });

  test("[UTP-11.6-R8] is waited for otherwise", async () => {
    await using world = await startPmoWorld();
    const { toolCallId } = await waiting(world, false);
    expect((await world.resultOf(toolCallId)).status).toBe("running");
  });

  test("[INV-I1] one that was forgotten does not keep the batch from ending", async () => {
    await using world = await startPmoWorld();
    const { toolCallId, batchId } = await fork(world, { tasks: tasks(2) });
    await letPass(world, batchId, "memory");
    await letPass(world, batchId, "deadline");
    await world.engine.batches.sweep();
    expect((await world.resultOf(toolCallId)).status).toBe("timeout");
  });
});

describe("the deadline", () => {
  test("[UTP-11.6-5] [UTP-11.6-10] [UTP-W04-T1] ends the batch as timeout; what was delivered in time is in the result", async () => {
    await using world = await startPmoWorld();
    const { toolCallId, agentTurnId, agents, batchId } = await fork(world, { tasks: tasks(3) });
    await world.finish(agents[1] ?? "", { deliverable: "in time" });
    const slowCall = await world.suspend(agents[2] ?? "");
    await letPass(world, batchId, "deadline");
    await world.engine.batches.sweep();
    const { status, author, result } = await world.resultOf(toolCallId);
    expect([status, author]).toEqual(["timeout", "sys.pmo.batch_manager"]);
    expect(result).toMatchObject({
      status: "timeout",
      results: [
        { status: "canceled", error: "deadline_exceeded" },
        { status: "success", summary: "in time" },
        { status: "canceled", error: "deadline_exceeded" },
      ],
    });
    const children = await world.children(agentTurnId);
    expect(children.every(({ endedAt }) => endedAt !== null)).toBe(true);
    expect((await world.engine.calls.get({ projectId: PROJECT, toolCallId: slowCall })).status).toBe("canceled");
    const events = await queryTestDatabase(world.test.database.url, TASK_EVENTS);
    for (const child of children) expect(events).toContainEqual({ agent_turn_id: child.agentTurnId, events: 1 });
    expect((await world.takeWork(BOSS)).agentTurnId).toBe(agentTurnId);
  });

  test("[UTP-11.6-5] a batch whose tasks had all ended is not a timeout", async () => {
    await using world = await startPmoWorld();
    const { toolCallId, agents, batchId } = await fork(world, { tasks: tasks(2) });
    for (const agent of agents) await world.finish(agent);
    await letPass(world, batchId, "deadline");
    await world.engine.batches.sweep();
    expect((await world.resultOf(toolCallId)).status).toBe("success");
  });

  test("without one from the caller the project's counts; switched off it is the longest there is", async () => {
    const far = async (deadlineSeconds: number): Promise<number> => {
      await using world = await startPmoWorld({ pmo: { deadlineSeconds } });
      const { view } = await fork(world, { tasks: tasks(1) });
      return (await view()).deadlineAt.getTime() - (await world.engine.databaseNow());
    };
    expect(await far(100)).toBeLessThan(100_001);
    expect(await far(0)).toBeGreaterThan(6 * 86_400_000);
  });
});

describe("a caller that leaves", () => {
  test("[UTP-11.6-R5] stopping its turn stops its children, and theirs", async () => {
    await using world = await startPmoWorld();
    const outer = await fork(world, { tasks: [{ ...WORKER, target_ref: "Boss" }] });
    const [middle = ""] = outer.agents;
    const stepWork = await world.takeWork(middle);
    const stepId = `step_${stepWork.agentTurnId.replace("turn_", "")}_1`;
    await world.engine.turns.beginStep(stepWork, stepId);
    await world.engine.turns.commitStep(stepWork, {
      stepId,
      entries: [{ call: { toolName: "fork_join", arguments: { tasks: tasks(2) } } }],
    });
    await world.serve();
    const grandchildren = await world.children(stepWork.agentTurnId);
    expect(grandchildren).toHaveLength(2);
    await world.engine.turns.stop({ projectId: PROJECT, agentTurnId: outer.agentTurnId, actorId: "sys.test" });
    for (let rounds = 0; rounds < 3; rounds++) await world.engine.batches.sweep();
    const all = [...(await world.children(outer.agentTurnId)), ...(await world.children(stepWork.agentTurnId))];
    expect(all).toHaveLength(3);
    expect(all.every(({ endedAt }) => endedAt !== null)).toBe(true);
    const counts = await queryTestDatabase(world.test.database.url, RESULTS_OF, [outer.toolCallId]);
    expect(counts).toMatchObject([{ settled: 1, cards: 1 }]);
    expect(await world.engine.batches.sweep()).toEqual({ looked: 0, failed: 0 });
  });

  test("[UTP-11.6-R5] canceling the call stops its children; its own result stands", async () => {
    await using world = await startPmoWorld();
    const { toolCallId, agentTurnId } = await fork(world, { tasks: tasks(2) });
    await world.engine.calls.cancel({ projectId: PROJECT, toolCallId, reason: "enough" });
    await world.engine.batches.sweep();
    expect((await world.resultOf(toolCallId)).status).toBe("canceled");
    expect((await world.children(agentTurnId)).map(({ errorCode }) => errorCode)).toEqual(["stopped", "stopped"]);
  });
});

test("[API-T-R3] a batch that ended is forgotten with its tasks and edges; an open one never", async () => {
  await using world = await startPmoWorld();
  const url = world.test.database.url;
  const ended = await fork(world, { tasks: tasks(2) });
  for (const agentId of ended.agents) await world.finish(agentId);
  await world.engine.batches.sweep();
  await world.finish(BOSS);
  const open = await fork(world, { tasks: tasks(1) });
  expect(await queryTestDatabase(url, BATCH_ROWS)).toEqual([{ batches: 2, tasks: 3, edges: 3 }]);
  expect(await world.engine.retain({ seconds: 3_600 })).toMatchObject({ batches: 0 });
  expect(await world.engine.retain({ seconds: 0 })).toMatchObject({ batches: 1 });
  expect(await queryTestDatabase(url, BATCH_ROWS)).toEqual([{ batches: 1, tasks: 1, edges: 1 }]);
  for (const agentId of open.agents) await world.finish(agentId);
  await world.engine.batches.sweep();
  expect((await world.resultOf(open.toolCallId)).status).toBe("success");
});
