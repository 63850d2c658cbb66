import { meddle } from "@toolplane/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openRegistryWorld, type RegistryWorld } from "../../test/registry-world.ts";
import { insertSampleCall } from "../../test/sample-calls.ts";
import { sampleCard } from "../../test/sample-cards.ts";
import { sampleTool } from "../../test/sample-tools.ts";

/** What no part of the engine that is tested here writes. */
const ONE_ROW_EACH = [
  "oneCallKey",
  "oneCallLease",
  "oneCallDiagnostics",
  "oneStep",
  "oneInboxRow",
  "oneEdge",
  "oneTurn",
  "oneIdentityEdge",
  "oneBatch",
  "oneBatchTask",
  "oneSession",
  "oneDeadLetter",
  "oneTombstone",
  "oneGate",
  "oneLingeringRun",
  "oneWebhook",
  "oneWebhookReader",
  "oneWebhookDelivery",
  "oneAttachedTarget",
  "oneMessage",
  "oneSentEvent",
  "oneToken",
] as const;

let world: RegistryWorld;

beforeAll(async () => {
  world = await openRegistryWorld();
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => {
  world.doorbell.rings.length = 0;
});

describe("creating", () => {
  test("[UTP-5.8-E1] without an id one is minted, without an owner the caller owns it", async () => {
    const project = await world.projects.createProject({ title: "Mine" }, "alice");
    expect(project).toMatchObject({ title: "Mine", status: "active", ownerId: "alice" });
    expect(project.projectId).toMatch(/^proj_[0-9a-f]{12}$/);
    expect(project.createdAt).toBe(project.updatedAt);
    expect(await world.projects.getProject(project.projectId)).toEqual(project);
    expect(world.doorbell.rings).toEqual(["registry"]);
  });

  test("[UTP-5.8-E2] bootstrap is the default and seeds the project manager's tools and emit_marker", async () => {
    const seeded = await world.projects.createProject({ title: "x" }, "a");
    const names = async (projectId: string) =>
      (await world.tools.listTools(projectId, { includeInternal: true })).items.map((tool) => tool.toolName);
    const pmo = ["ask_expert", "delegate_async", "fork_join", "launch_principal", "provision_agent"];
    expect((await names(seeded.projectId)).sort()).toEqual([...pmo, "emit_marker"].sort());
    const bare = await world.projects.createProject({ title: "x", bootstrap: false }, "a");
    expect(await names(bare.projectId)).toEqual([]);
  });

  test("[UTP-13.2-E6] [UTP-5.8-4] an id that is taken is a conflict, also for two at once", async () => {
    const make = () => world.projects.createProject({ project_id: "taken", title: "x" }, "a");
    const outcomes = await Promise.allSettled([make(), make(), make()]);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await expect(make()).rejects.toMatchObject({ code: "conflict", detail: { project_id: "taken" } });
  });

  test.each([
    {},
    { title: "" },
    { title: "x", project_id: "a.b" },
    { title: "x", project_id: "" },
    { title: "x", owner_id: "" },
    { title: "x", surprise: 1 },
    { title: "x", bootstrap: "yes" },
    { title: "a\u0000b" },
  ])("[UTP-5.8-E3] %j is refused", async (request) => {
    await expect(world.projects.createProject(request, "a")).rejects.toMatchObject({ code: "bad_request" });
  });
});

describe("reading and changing", () => {
  test("[UTP-13.2-E7] every project is listed exactly once, page by page", async () => {
    for (let i = 0; i < 5; i++)
      await world.projects.createProject({ project_id: `list_${i}`, title: "x", bootstrap: false }, "a");
    const seen: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await world.projects.listProjects({ limit: 2, cursor });
      seen.push(...page.items.map((project) => project.projectId));
      if (page.nextCursor === undefined) break;
      cursor = page.nextCursor;
    }
    expect(seen).toEqual([...new Set(seen)].sort());
    expect(seen).toEqual(expect.arrayContaining(["list_0", "list_4"]));
  });

  test("[UTP-W30-E1] a patch changes what it names; updated_at moves with a change and only then", async () => {
    const { projectId, updatedAt } = await world.projects.createProject({ title: "old", bootstrap: false }, "a");
    expect(await world.projects.patchProject(projectId, { title: "old" })).toMatchObject({ updatedAt });
    const renamed = await world.projects.patchProject(projectId, { title: "new" });
    expect(renamed).toMatchObject({ title: "new", status: "active" });
    expect(Date.parse(renamed.updatedAt)).toBeGreaterThan(Date.parse(updatedAt));
    expect(await world.projects.patchProject(projectId, { status: "inactive" })).toMatchObject({
      title: "new",
      status: "inactive",
    });
  });

  test("[UTP-W30-E2] a status outside the three words is a refusal, not an error of the database", async () => {
    const { projectId } = await world.projects.createProject({ title: "x", bootstrap: false }, "a");
    await expect(world.projects.patchProject(projectId, { status: "gone" })).rejects.toMatchObject({
      code: "bad_request",
    });
  });

  test.each(["proj_none", "", "a.b", "a\u0000b"])("%j is not found", async (projectId) => {
    expect(await world.projects.getProject(projectId)).toBeUndefined();
    await expect(world.projects.patchProject(projectId, {})).rejects.toMatchObject({ code: "not_found" });
    await expect(world.projects.deleteProject(projectId)).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("deleting", () => {
  /** Read from the catalog, so that a table added later is not forgotten by a delete. */
  const tablesOfProjects = async (): Promise<readonly string[]> => {
    const rows = await world.ask<{ name: string }>(
      `select format('%I.%I', c.table_schema, c.table_name) as name
         from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
        where c.column_name = 'project_id' and t.table_type = 'BASE TABLE' and c.table_schema in ('resource', 'cards', 'state', 'bus')`,
    );
    return rows.map(({ name }) => name);
  };

  const rowsOf = async (projectId: string): Promise<Record<string, number>> => {
    const counts: Record<string, number> = {};
    for (const table of await tablesOfProjects()) {
      const [row] = await world.ask<{ n: number }>(`select count(*)::int as n from ${table} where project_id = $1`, [
        projectId,
      ]);
      counts[table] = row?.n ?? -1;
    }
    return counts;
  };

  const fill = async (projectId: string): Promise<void> => {
    await world.projects.createProject({ project_id: projectId, title: "x" }, "a");
    const by = { door: "http", tokenId: null, role: "operator", actor: "me" } as const;
    await world.tools.upsertTool(projectId, sampleTool("count_words"), { by });
    await world.profiles.upsertProfile(projectId, { name: "Helper", worker_target: "worker_generic" });
    await world.agents.upsertAgent(projectId, { agent_id: "helper", profile_name: "Helper" });
    await world.boxes.createBox(projectId, ["a", "b"]);
    await world.cards.putCards(projectId, [sampleCard(projectId)]);
    await insertSampleCall(world, { projectId, toolCallId: "tc_done", status: "success" });
    for (const what of ONE_ROW_EACH) await meddle(world, what, [projectId]);
  };

  test("[API-4-E2] everything of the project goes, and nothing of its neighbour", async () => {
    await fill("doomed");
    await fill("neighbour");
    await insertSampleCall(world, { projectId: "neighbour", toolCallId: "tc_open" });
    const before = await rowsOf("neighbour");
    expect(Object.values(before).every((n) => n > 0)).toBe(true);
    await world.projects.deleteProject("doomed");
    expect(Object.values(await rowsOf("doomed")).every((n) => n === 0)).toBe(true);
    expect(await rowsOf("neighbour")).toEqual(before);
    await expect(world.projects.deleteProject("doomed")).rejects.toMatchObject({ code: "not_found" });
  });

  test.each(["queued", "running"] as const)("[API-4-E3] a %s call keeps it, unless forced", async (status) => {
    const projectId = `open_${status}`;
    await fill(projectId);
    await insertSampleCall(world, { projectId, toolCallId: "tc_open", status });
    await expect(world.projects.deleteProject(projectId)).rejects.toMatchObject({ code: "conflict" });
    expect(await world.projects.getProject(projectId)).toMatchObject({ status: "active" });
    await world.projects.deleteProject(projectId, { force: true });
    expect(Object.values(await rowsOf(projectId)).every((n) => n === 0)).toBe(true);
  });

  test("[API-4-E3] an open turn keeps it", async () => {
    await fill("open_turn");
    await meddle(world, "runHeadsOf", ["open_turn"]);
    await expect(world.projects.deleteProject("open_turn")).rejects.toMatchObject({ code: "conflict" });
  });

  test("a delete that was cut short is finished by the next one", async () => {
    await fill("half");
    await meddle(world, "archiveProject", ["half"]);
    await meddle(world, "losePastCalls", ["half"]);
    await world.projects.deleteProject("half");
    expect(Object.values(await rowsOf("half")).every((n) => n === 0)).toBe(true);
  });
});
