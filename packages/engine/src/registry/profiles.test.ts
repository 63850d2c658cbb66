import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRegistryWorld, type RegistryWorld } from "../../test/registry-world.ts";

let world: RegistryWorld;
const A = "proj_a";
const B = "proj_b";
const upload = (name: string, more: object = {}) => ({
  name,
  worker_target: "worker_generic",
  tags: "one, two",
  ...more,
});

beforeAll(async () => {
  world = await openRegistryWorld();
  for (const project of [A, B])
    await world.projects.createProject({ project_id: project, title: "t", bootstrap: false }, "me");
});
afterAll(() => world[Symbol.asyncDispose]());

describe("uploading", () => {
  test("[UTP-5.7-E1] [UTP-5.7-9] an upload is a sys.profile card by `api` in a new box, and a row that points at it", async () => {
    world.doorbell.rings.length = 0;
    const profile = await world.profiles.upsertProfile(A, upload("Writer", { system_prompt: "Write well." }));
    expect(profile).toMatchObject({
      outcome: "created",
      projectId: A,
      name: "Writer",
      workerTarget: "worker_generic",
      tags: ["one", "two"],
      systemPrompt: "Write well.",
    });
    expect(world.doorbell.rings).toEqual(["registry"]);
    const box = await world.boxes.loadBox(A, profile.profileBoxId);
    const [card] = await world.cards.getCards(A, box?.cardIds ?? []);
    expect(card).toMatchObject({
      type: "sys.profile",
      author_id: "api",
      metadata: { name: "Writer", worker_target: "worker_generic", tags: ["one", "two"] },
      content: { __type__: "JsonContent", data: { name: "Writer", allowed_tools: [] } },
    });
    expect(await world.profiles.loadProfile(A, profile.profileBoxId)).toMatchObject({
      system_prompt_template: "Write well.",
      llm_config: { model: "gpt-3.5-turbo", temperature: 1, stream: true, save_reasoning_content: true },
    });
  });

  test("[UTP-5.7-E2] another content is a new card in a new box; whoever has the old box keeps the old profile", async () => {
    const first = await world.profiles.upsertProfile(A, upload("Editor", { system_prompt: "v1" }));
    const second = await world.profiles.upsertProfile(A, upload("Editor", { system_prompt: "v2" }));
    expect(second).toMatchObject({ outcome: "replaced", systemPrompt: "v2" });
    expect(second.profileBoxId).not.toBe(first.profileBoxId);
    expect(await world.profiles.loadProfile(A, first.profileBoxId)).toMatchObject({ system_prompt_template: "v1" });
    expect(await world.profiles.getProfile(A, "Editor")).toMatchObject({ profileBoxId: second.profileBoxId });
  });

  test("the same content again changes nothing and leaves no box behind", async () => {
    const first = await world.profiles.upsertProfile(A, upload("Steady"));
    world.doorbell.rings.length = 0;
    const again = await world.profiles.upsertProfile(A, { ...upload("Steady"), tags: ["one", "two"] });
    expect(again).toEqual({ ...first, outcome: "unchanged" });
    expect(world.doorbell.rings).toEqual([]);
  });

  test("[UTP-W30-E3] [UTP-5.7-8] names are one name whatever their case, for writing and for finding", async () => {
    await world.profiles.upsertProfile(A, upload("Analyst"));
    const renamed = await world.profiles.upsertProfile(A, upload("ANALYST", { system_prompt: "x" }));
    expect(renamed).toMatchObject({ outcome: "replaced", name: "ANALYST" });
    for (const name of ["analyst", "Analyst", " aNaLySt "])
      expect(await world.profiles.getProfile(A, name)).toMatchObject({ profileBoxId: renamed.profileBoxId });
    const { items } = await world.profiles.listProfiles(A);
    expect(items.filter((item) => item.name.toLowerCase() === "analyst")).toHaveLength(1);
  });

  test("[UTP-W30-E3] [UTP-W30-2] twenty uploads of one name in two cases at once leave one row", async () => {
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        world.profiles.upsertProfile(A, upload(i % 2 === 0 ? "Racer" : "racer", { system_prompt: `${i}` })),
      ),
    );
    const rows = await world.ask("select name from resource.profiles where project_id = $1 and name_key = 'racer'", [
      A,
    ]);
    expect(rows).toHaveLength(1);
  });

  test.each([
    {},
    upload(""),
    { name: "x" },
    upload("x", { worker_target: "a.b" }),
    upload("x", { allowed_tools: null }),
    upload("x", { llm_config: { api_key: "sk-1" } }),
  ])("[UTP-5.7-E3] %j is refused and nothing is written", async (bad) => {
    const count = async () => (await world.ask("select 1 from cards.cards where project_id = $1", [A])).length;
    const before = await count();
    await expect(world.profiles.upsertProfile(A, bad)).rejects.toMatchObject({ code: "bad_request" });
    expect(await count()).toBe(before);
  });
});

describe("reading and deleting", () => {
  test("[UTP-13.2-E8] profiles are listed page by page; a deleted one is gone, its box stays", async () => {
    const project = "proj_pages";
    await world.projects.createProject({ project_id: project, title: "t", bootstrap: false }, "me");
    for (const name of ["c", "A", "b"]) await world.profiles.upsertProfile(project, upload(name));
    const first = await world.profiles.listProfiles(project, { limit: 2 });
    const second = await world.profiles.listProfiles(project, { limit: 2, cursor: first.nextCursor });
    expect([...first.items, ...second.items].map((item) => item.name)).toEqual(["A", "b", "c"]);
    expect(second.nextCursor).toBeUndefined();
    const box = first.items[0]?.profileBoxId ?? "";
    await world.profiles.deleteProfile(project, "a");
    expect(await world.profiles.getProfile(project, "A")).toBeUndefined();
    expect(await world.profiles.loadProfile(project, box)).toMatchObject({ name: "A" });
    await expect(world.profiles.deleteProfile(project, "a")).rejects.toMatchObject({ code: "not_found" });
  });

  test("[SEC-14-E3] a profile of another project does not exist", async () => {
    const { profileBoxId } = await world.profiles.upsertProfile(A, upload("Hidden"));
    expect(await world.profiles.getProfile(B, "Hidden")).toBeUndefined();
    expect(await world.profiles.loadProfile(B, profileBoxId)).toBeUndefined();
    await expect(world.profiles.deleteProfile(B, "Hidden")).rejects.toMatchObject({ code: "not_found" });
  });

  test("a box that holds no profile is none, and neither is a name the database cannot hold", async () => {
    expect(await world.profiles.loadProfile(A, await world.boxes.createBox(A, ["nobody"]))).toBeUndefined();
    expect(await world.profiles.getProfile(A, "a\u0000b")).toBeUndefined();
  });
});
