// An agent that was made for a task is forgotten with the last of what it did, and with it its head and its edge. One that
// somebody wants, or that has anything to do, stays; whoever gives it a turn meanwhile has the agent, or is told.

import type { Engine } from "@toolplane/engine";
import type { FaultPoint, Faults } from "@toolplane/engine/internal";
import { ToolplaneError } from "@toolplane/protocol";
import { codeOf, queryTestDatabase } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";
import { fork, tasks } from "./fork.ts";
import { ROSTER_AND_HEADS, WITHOUT_AGENT } from "./pmo-world.sql.ts";
import { BOSS, type PmoWorld, PROJECT, startPmoWorld, WORKER } from "./pmo-world.ts";

const NOW = { seconds: 0 };

const agentsOf = async ({ engine }: PmoWorld): Promise<readonly string[]> =>
  (await engine.agents.listAgents(PROJECT, { limit: 500 })).items.map(({ agentId }) => agentId);

/** The boss hands something to somebody new, who does it. */
const delegated = async (world: PmoWorld, task: object = WORKER): Promise<string> => {
  const { result } = await world.call("delegate_async", { ...WORKER, ...task });
  const agentId = String(result.agent_id);
  await world.finish(agentId);
  await world.finish(BOSS);
  return agentId;
};

const spawn = (engine: Engine, agentId: string) =>
  engine.turns.spawn({ projectId: PROJECT, agentId, sourceAgentId: "sys.test", context: { instruction: "again" } });

/** Counts how often a point is passed; when told to, whoever comes to it for the n-th time is stopped, or fails. */
const createGate = (point: FaultPoint) => {
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  let hits = 0;
  let shut: { readonly hit: number; readonly fails: boolean } | undefined;
  const faults: Faults = {
    async at(here) {
      if (here !== point || ++hits !== shut?.hit) return;
      if (shut.fails) throw new ToolplaneError("storage_error", `died at ${point}`);
      reached.resolve();
      await opened.promise;
    },
  };
  return {
    faults,
    reached: reached.promise,
    open: opened.resolve,
    hits: () => hits,
    shutAt(hit: number, fails = false) {
      hits = 0;
      shut = { hit, fails };
    },
  };
};

describe("[API-T-R4] agents made for a task", () => {
  test("go when their batch or delegation is over and forgotten; the others stay", async () => {
    await using world = await startPmoWorld();
    const { engine } = world;
    await engine.agents.upsertAgent(PROJECT, { agent_id: "steady", profile_name: "Worker" });
    const reuse = { target_strategy: "reuse", target_ref: "steady", instruction: "help" };
    const forked = await fork(world, { tasks: [...tasks(2), reuse] });
    await world.finish(forked.agents[0] ?? "");
    await engine.batches.sweep();
    // Its turn is forgotten, but the batch it belongs to waits for the others.
    expect(await engine.retain(NOW)).toMatchObject({ turns: 1, agents: 0 });
    for (const agentId of forked.agents.slice(1)) await world.finish(agentId);
    await engine.batches.sweep();
    await world.finish(BOSS);
    const made = await delegated(world);
    await delegated(world, { target_strategy: "clone", target_ref: made });
    expect(await engine.retain({ seconds: 3_600 })).toMatchObject({ agents: 0 });
    expect(await agentsOf(world)).toHaveLength(6);
    // The clone belongs to whom it was made from, and goes first.
    expect(await engine.retain(NOW)).toMatchObject({ agents: 3 });
    expect(await agentsOf(world)).toEqual([BOSS, made, "steady"].sort());
    expect(await engine.retain(NOW)).toMatchObject({ agents: 1 });
    expect(await agentsOf(world)).toEqual([BOSS, "steady"]);
    expect(await queryTestDatabase(world.test.database.url, ROSTER_AND_HEADS)).toEqual([
      { agents: 2, heads: 2, identity_edges: 0 },
    ]);
    expect(await codeOf(spawn(engine, made))).toBe("not_found");
  });

  test("stay for a turn, a row, a call, a token, an agent of their own, or somebody who provisions them", async () => {
    await using world = await startPmoWorld();
    const { engine } = world;
    const provision = (args: object) => world.call("provision_agent", { action: "ensure", ...args });
    const reasons: Readonly<Record<string, (agentId: string) => Promise<unknown>>> = {
      "a turn": (agentId) => spawn(engine, agentId),
      "a turn that waits until it is active": async (agentId) => {
        await engine.agents.deactivateAgent(PROJECT, agentId, "not now");
        await engine.agents.activateAgent(PROJECT, agentId);
        await spawn(engine, agentId);
      },
      "a call of its own": (agentId) =>
        engine.calls.dispatch({ projectId: PROJECT, toolName: "slow", arguments: {}, agentId }),
      "a token": (agentId) => engine.tokens.create({ role: "agent", projectId: PROJECT, actorId: agentId }),
      "an agent of its own": (agentId) =>
        engine.agents.upsertAgent(PROJECT, { agent_id: "heir", profile_name: "Worker", owner_agent_id: agentId }),
      "somebody who asks for it": async (agentId) => {
        const asked = await provision({ agent_id: agentId });
        expect(asked.result).toMatchObject({ status: "accepted", roster_updated: false });
        await world.finish(BOSS);
      },
      "somebody who uploads it": (agentId) =>
        engine.agents.upsertAgent(PROJECT, { agent_id: agentId, profile_name: "Worker" }),
    };
    const kept: string[] = [];
    for (const keep of Object.values(reasons)) {
      const agentId = await delegated(world);
      await keep(agentId);
      kept.push(agentId);
    }
    await delegated(world);
    expect(await engine.retain(NOW)).toMatchObject({ agents: 1 });
    expect(await agentsOf(world)).toEqual([BOSS, "heir", ...kept].sort());
    // Those who only had something to do are forgotten when it is done.
    for (const agentId of kept.slice(0, 2)) await world.finish(agentId);
    expect(await engine.retain(NOW)).toMatchObject({ agents: 2 });
  });

  test("are there whole or not at all when a process dies in the middle", async () => {
    await using world = await startPmoWorld();
    const counts = () => queryTestDatabase(world.test.database.url, ROSTER_AND_HEADS);
    for (let made = 0; made < 3; made++) await delegated(world);
    for (const [point, left] of [
      ["retain:before-commit", { agents: 4, heads: 4, identity_edges: 3 }],
      ["retain:after-commit", { agents: 1, heads: 1, identity_edges: 0 }],
    ] as const) {
      const gate = createGate(point);
      const mortal = await world.test.another({ faults: gate.faults });
      await mortal.retain({ seconds: 3_600 }, PROJECT);
      // Agents are the last that is forgotten.
      gate.shutAt(gate.hits(), true);
      expect(await codeOf(mortal.retain(NOW, PROJECT))).toBe("storage_error");
      expect(await counts()).toEqual([left]);
    }
  });

  test("are there with the turn that is given to them meanwhile, or it is refused", async () => {
    await using world = await startPmoWorld();
    const slow = createGate("spawn:before-commit");
    const spawner = await world.test.another({ faults: slow.faults });
    const agentId = await delegated(world);
    // Who spawns first is not waited for: the agent is passed over.
    slow.shutAt(1);
    const spawned = spawn(spawner, agentId);
    await slow.reached;
    expect(await world.engine.retain(NOW)).toMatchObject({ turns: 1, agents: 0 });
    slow.open();
    expect(await spawned).toMatchObject({ agentId, turnEpoch: 2 });
    await world.finish(agentId);
    // Who forgets first is waited for.
    const last = createGate("retain:before-commit");
    const forgetter = await world.test.another({ faults: last.faults });
    await forgetter.retain({ seconds: 3_600 }, PROJECT);
    last.shutAt(last.hits());
    const forgetting = forgetter.retain(NOW, PROJECT);
    await last.reached;
    const late = codeOf(spawn(world.engine, agentId));
    last.open();
    expect(await forgetting).toMatchObject({ agents: 1 });
    expect(await late).toBe("not_found");
    expect(await queryTestDatabase(world.test.database.url, WITHOUT_AGENT)).toEqual([]);
  });

  test("two processes that forget and many that spawn at the same time leave no turn without its agent", async () => {
    await using world = await startPmoWorld({ forkJoinTasks: 64 });
    const other = await world.test.another();
    const forked = await fork(world, { tasks: tasks(16) });
    for (const agentId of forked.agents) await world.finish(agentId);
    await world.engine.batches.sweep();
    await world.finish(BOSS);
    const spawns = forked.agents.map((agentId, index) =>
      codeOf(spawn(index % 2 === 0 ? world.engine : other, agentId)),
    );
    const runs = await Promise.all([world.engine.retain(NOW), other.retain(NOW), world.engine.retain(NOW)]);
    const refused = (await Promise.all(spawns)).filter((code) => code !== "no error");
    const forgotten = runs.reduce((sum, { agents }) => sum + agents, 0);
    expect(refused).toEqual(Array.from({ length: forgotten }, () => "not_found"));
    expect(await queryTestDatabase(world.test.database.url, WITHOUT_AGENT)).toEqual([]);
    expect(await agentsOf(world)).toHaveLength(17 - forgotten);
  });
});
