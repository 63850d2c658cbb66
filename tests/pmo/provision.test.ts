// provision_agent through the runner, on a real engine.

import { queryTestDatabase } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { HEAD_OF, IDENTITY_EDGES, LEFT_BEHIND } from "./pmo-world.sql.ts";
import { BOSS, PROJECT, startPmoWorld } from "./pmo-world.ts";

const ENSURE = { action: "ensure", agent_id: "w1", profile_name: "Worker", active_channel_id: "line_1" } as const;

test("[UTP-11.5-4] the roster row, an identity edge and an idle head come together", async () => {
  await using world = await startPmoWorld();
  const { status, author, result } = await world.call("provision_agent", { ...ENSURE, display_name: "Wanda" });
  expect([status, author, result]).toEqual([
    "success",
    "sys.pmo",
    { status: "accepted", agent_id: "w1", roster_updated: true },
  ]);
  expect(await world.engine.agents.getAgent(PROJECT, "w1")).toMatchObject({
    displayName: "Wanda",
    ownerAgentId: BOSS,
    workerTarget: "floor",
    status: "active",
  });
  const url = world.test.database.url;
  expect(await queryTestDatabase(url, HEAD_OF, ["w1"])).toEqual([
    { status: "idle", active_channel_id: "line_1", turn_epoch: 0 },
  ]);
  expect(await queryTestDatabase(url, IDENTITY_EDGES, ["w1"])).toMatchObject([
    { action: "provision", source_agent_id: BOSS, metadata: { owner_agent_id: BOSS, worker_target: "floor" } },
  ]);
});

test("[API-state] identity edges are found by every filter, and by no other value of it", async () => {
  await using world = await startPmoWorld();
  await world.call("provision_agent", { ...ENSURE, tags: ["night"] });
  const find = async (request: object) => (await world.engine.lineage.identityEdges(PROJECT, request)).items;
  const [edge] = await find({ agentId: "w1" });
  const wanted = {
    channelId: edge?.channel_id,
    traceId: edge?.trace_id,
    parentStepId: edge?.parent_step_id,
    ownerAgentId: BOSS,
    workerTarget: "floor",
    tag: "night",
  };
  for (const [filter, value] of Object.entries(wanted)) {
    expect(typeof value, filter).toBe("string");
    expect(await find({ agentId: "w1", [filter]: value }), filter).toEqual([edge]);
    expect(await find({ agentId: "w1", [filter]: "other" }), filter).toEqual([]);
  }
});

test("[UTP-11.5-2] [UTP-11.5-4] an existing agent may be renamed, which is an update; its identity stays", async () => {
  await using world = await startPmoWorld();
  await world.call("provision_agent", ENSURE);
  await world.finish(BOSS);
  const renamed = await world.call("provision_agent", { action: "ensure", agent_id: "w1", display_name: "Wally" });
  expect(renamed.result).toEqual({ status: "accepted", agent_id: "w1", roster_updated: true });
  await world.finish(BOSS);
  const same = await world.call("provision_agent", { action: "ensure", agent_id: "w1", display_name: "Wally" });
  expect(same.result).toMatchObject({ status: "accepted", roster_updated: false });
  await world.finish(BOSS);
  const moved = await world.call("provision_agent", { action: "ensure", agent_id: "w1", worker_target: "mine" });
  expect([moved.status, moved.result]).toEqual([
    "success",
    { status: "rejected", error_code: "existing_agent_worker_target_mutation_forbidden" },
  ]);
  const edges = await queryTestDatabase(world.test.database.url, IDENTITY_EDGES, ["w1"]);
  expect(edges.map(({ action }) => action)).toEqual(["provision", "update"]);
});

test("[UTP-11.5-3] the guard's no is a failed call, and nothing is left behind", async () => {
  await using world = await startPmoWorld();
  const { toolCallId } = await world.ask("provision_agent", { ...ENSURE, profile_name: "Chef" });
  const before = await queryTestDatabase(world.test.database.url, LEFT_BEHIND);
  await world.serve();
  expect((await world.resultOf(toolCallId)).error).toMatchObject({ code: "auth_failed" });
  expect(await queryTestDatabase(world.test.database.url, LEFT_BEHIND)).toEqual(before);
});

test("[UTP-11.1-8] two runs of one call provision once; two calls for one agent see each other", async () => {
  await using world = await startPmoWorld();
  await world.ask("provision_agent", ENSURE);
  const [leased] = await world.claim();
  const other = await world.test.another();
  await Promise.all([leased && world.run(leased), leased && world.run(leased, other)]);
  expect(await queryTestDatabase(world.test.database.url, IDENTITY_EDGES, ["w1"])).toHaveLength(1);

  await world.engine.agents.upsertAgent(PROJECT, { agent_id: "boss_2", profile_name: "Boss" });
  await world.finish(BOSS);
  const calls = [await world.ask("provision_agent", { ...ENSURE, agent_id: "w2", worker_target: "day" })];
  calls.push(await world.ask("provision_agent", { ...ENSURE, agent_id: "w2", worker_target: "night" }, "boss_2"));
  const claimed = await world.claim();
  await Promise.all(claimed.map((call, index) => world.run(call, index === 0 ? world.engine : other)));
  const results = await Promise.all(calls.map(({ toolCallId }) => world.resultOf(toolCallId)));
  expect(results.map(({ result }) => result.status).sort()).toEqual(["accepted", "rejected"]);
});
