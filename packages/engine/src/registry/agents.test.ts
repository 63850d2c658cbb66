import { meddle } from "@toolplane/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openRegistryWorld, type RegistryWorld } from "../../test/registry-world.ts";

let world: RegistryWorld;
const A = "proj_a";
const B = "proj_b";
let boxOfOne: string;
let boxOfTwo: string;

beforeAll(async () => {
  world = await openRegistryWorld();
  for (const project of [A, B])
    await world.projects.createProject({ project_id: project, title: "t", bootstrap: false }, "me");
  boxOfOne = (await world.profiles.upsertProfile(A, { name: "One", worker_target: "pool_one", tags: ["t1"] }))
    .profileBoxId;
  boxOfTwo = (await world.profiles.upsertProfile(A, { name: "Two", worker_target: "pool_two", tags: ["t2"] }))
    .profileBoxId;
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => {
  world.doorbell.rings.length = 0;
});

describe("upserting", () => {
  test("[UTP-13.2-E9] a profile by name brings box, worker_target, tags and its name", async () => {
    expect(await world.agents.upsertAgent(A, { agent_id: "fresh", profile_name: "one" })).toMatchObject({
      outcome: "created",
      projectId: A,
      agentId: "fresh",
      profileBoxId: boxOfOne,
      workerTarget: "pool_one",
      tags: ["t1"],
      displayName: null,
      ownerAgentId: null,
      status: "active",
      metadata: { profile_name: "One" },
    });
    expect(world.doorbell.rings).toEqual(["registry"]);
  });

  test.each(["sys_api", "SYS_api", "sys_"])(
    "[SEC-own-reserved] %s would hear of an operator's direct calls",
    async (agent_id) => {
      const upload = { agent_id, profile_name: "one" };
      await expect(world.agents.upsertAgent(A, upload)).rejects.toMatchObject({
        code: "bad_request",
        message: expect.stringContaining("begin with sys_"),
      });
    },
  );

  test("[UTP-13.2-E9] a profile by box, with what the upload says itself", async () => {
    const agent = await world.agents.upsertAgent(A, {
      agent_id: "boxed",
      profile_box_id: boxOfTwo,
      worker_target: "mine",
      tags: ["x", "x", "y"],
      display_name: "Boxed",
      owner_agent_id: "boss",
    });
    expect(agent).toMatchObject({
      profileBoxId: boxOfTwo,
      workerTarget: "mine",
      tags: ["x", "y"],
      displayName: "Boxed",
      ownerAgentId: "boss",
    });
  });

  test("[UTP-5.6-E1] on conflict profile, target, tags and owner are replaced, the name is kept, metadata merged, status untouched", async () => {
    await world.agents.upsertAgent(A, {
      agent_id: "known",
      profile_name: "One",
      display_name: "K",
      owner_agent_id: "boss",
      metadata: { a: 1, b: 1 },
    });
    await world.agents.deactivateAgent(A, "known", "resting");
    const merged = await world.agents.upsertAgent(A, {
      agent_id: "known",
      profile_name: "Two",
      tags: ["new"],
      metadata: { b: 2, c: 3 },
    });
    expect(merged).toMatchObject({
      outcome: "updated",
      profileBoxId: boxOfTwo,
      workerTarget: "pool_two",
      tags: ["new"],
      displayName: "K",
      ownerAgentId: null,
      status: "inactive",
    });
    expect(merged.metadata).toEqual({ a: 1, b: 2, c: 3, profile_name: "Two", deactivated_reason: "resting" });
    expect(
      await world.agents.upsertAgent(A, { agent_id: "known", profile_name: "Two", display_name: "L" }),
    ).toMatchObject({ displayName: "L" });
  });

  test("[UTP-5.6-E1] twenty upserts of one agent at once lose no metadata", async () => {
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        world.agents.upsertAgent(A, { agent_id: "crowd", profile_name: "One", metadata: { [`k${i}`]: i } }),
      ),
    );
    expect(Object.keys((await world.agents.getAgent(A, "crowd"))?.metadata ?? {})).toHaveLength(21);
  });

  test("[UTP-13.2-E10] an unknown profile or a box that is not a profile of this project is not_found", async () => {
    const plain = await world.boxes.createBox(A, []);
    for (const given of [{ profile_name: "Nobody" }, { profile_box_id: plain }])
      await expect(world.agents.upsertAgent(A, { agent_id: "x", ...given })).rejects.toMatchObject({
        code: "not_found",
      });
    await expect(world.agents.upsertAgent(B, { agent_id: "x", profile_box_id: boxOfOne })).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(world.agents.upsertAgent("proj_none", { agent_id: "x", profile_name: "One" })).rejects.toMatchObject({
      code: "not_found",
    });
  });

  test.each([
    {},
    { agent_id: "x" },
    { agent_id: "a.b", profile_name: "One" },
    { agent_id: "sys.api", profile_name: "One" },
    { agent_id: "x", profile_name: "One", worker_target: "a.b" },
    { agent_id: "x", profile_name: "One", surprise: 1 },
  ])("[UTP-W31-E1] %j is refused", async (bad) => {
    await expect(world.agents.upsertAgent(A, bad)).rejects.toMatchObject({ code: "bad_request" });
  });

  test("[UTP-13.2-E11] init_state makes an idle head, once, and only when wanted", async () => {
    const heads = (agentId: string) =>
      world.ask("select status, turn_epoch from state.heads where project_id = $1 and agent_id = $2", [A, agentId]);
    await world.agents.upsertAgent(A, { agent_id: "headless", profile_name: "One", init_state: false });
    expect(await heads("headless")).toEqual([]);
    await world.agents.upsertAgent(A, { agent_id: "headed", profile_name: "One" });
    await meddle(world, "setHeadOf", ["headed", "running", 7]);
    await world.agents.upsertAgent(A, { agent_id: "headed", profile_name: "One" });
    expect(await heads("headed")).toEqual([{ status: "running", turn_epoch: "7" }]);
  });
});

describe("deactivating", () => {
  test("[UTP-5.6-E2] an agent is inactive with a reason, and can be activated again", async () => {
    await world.agents.upsertAgent(A, { agent_id: "tired", profile_name: "One", metadata: { a: 1 } });
    expect(await world.agents.deactivateAgent(A, "tired", "too slow")).toMatchObject({
      status: "inactive",
      metadata: { a: 1, deactivated_reason: "too slow" },
    });
    expect(await world.agents.activateAgent(A, "tired")).toMatchObject({ status: "active" });
    for (const project of [A, B])
      await expect(world.agents.deactivateAgent(project, "nobody", "x")).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("listing", () => {
  test("[UTP-W30-E4] filters come before paging", async () => {
    const project = "proj_filter";
    await world.projects.createProject({ project_id: project, title: "t", bootstrap: false }, "me");
    await world.profiles.upsertProfile(project, { name: "P", worker_target: "even" });
    for (let i = 0; i < 10; i++)
      await world.agents.upsertAgent(project, {
        agent_id: `a${i}`,
        profile_name: "P",
        worker_target: i % 2 === 0 ? "even" : "odd",
        tags: i < 5 ? ["low"] : ["high"],
      });
    await world.agents.deactivateAgent(project, "a9", "x");
    const list = async (filter: object): Promise<readonly (readonly string[])[]> => {
      const pages: string[][] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await world.agents.listAgents(project, { limit: 2, cursor, ...filter });
        pages.push(page.items.map((agent) => agent.agentId));
        if (page.nextCursor === undefined) return pages;
        cursor = page.nextCursor;
      }
    };
    expect(await list({ workerTarget: "odd" })).toEqual([["a1", "a3"], ["a5", "a7"], ["a9"]]);
    expect(await list({ workerTarget: "odd", tag: "high" })).toEqual([["a5", "a7"], ["a9"]]);
    expect(await list({ workerTarget: "odd", status: "active" })).toEqual([
      ["a1", "a3"],
      ["a5", "a7"],
    ]);
    expect(await list({ tag: "none" })).toEqual([[]]);
    expect(await list({ tag: "a\u0000b" })).toEqual([[]]);
  });

  test("[SEC-14-E3] an agent of another project does not exist", async () => {
    await world.agents.upsertAgent(A, { agent_id: "ours", profile_name: "One" });
    expect(await world.agents.getAgent(B, "ours")).toBeUndefined();
    expect((await world.agents.listAgents(B)).items).toEqual([]);
    expect(await world.agents.getAgent(A, "no such id")).toBeUndefined();
  });
});
