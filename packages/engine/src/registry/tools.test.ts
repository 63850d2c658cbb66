import { ToolplaneError } from "@toolplane/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openRegistryWorld, type RegistryWorld } from "../../test/registry-world.ts";
import { sampleTool } from "../../test/sample-tools.ts";

let world: RegistryWorld;
const A = "proj_a";
const B = "proj_b";

beforeAll(async () => {
  world = await openRegistryWorld();
  for (const project of [A, B])
    await world.projects.createProject({ project_id: project, title: "t", bootstrap: false }, "me");
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => {
  world.doorbell.rings.length = 0;
});

const versionsOf = async (toolName: string): Promise<readonly number[]> =>
  (await world.tools.listToolVersions(A, toolName)).items.map(({ version }) => version);

describe("registering", () => {
  test("[UTP-5.1-E1] a new definition is version 1 and rings the registry", async () => {
    const result = await world.tools.upsertTool(A, sampleTool("fresh"));
    expect(result).toEqual({
      toolName: "fresh",
      outcome: "created",
      version: 1,
      definitionHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      changed: [],
      inForce: { definition: expect.objectContaining({ tool_name: "fresh" }), definitionHash: result.definitionHash },
    });
    expect(world.doorbell.rings).toEqual(["registry"]);
    expect(await world.tools.getTool(A, "fresh")).toMatchObject({
      projectId: A,
      toolName: "fresh",
      version: 1,
      definitionHash: result.definitionHash,
      status: "active",
      source: null,
      definition: { description: "Counts words", after_execution: "suspend" },
    });
  });

  test("[SEC-10-E7] the same hash changes nothing and rings nobody", async () => {
    const { definitionHash } = await world.tools.upsertTool(A, sampleTool("same"));
    world.doorbell.rings.length = 0;
    const again = await world.tools.upsertTool(A, { ...sampleTool("same"), name: "same", description: "Counts words" });
    expect(again).toMatchObject({ outcome: "unchanged", version: 1, definitionHash });
    expect(world.doorbell.rings).toEqual([]);
    expect(await versionsOf("same")).toEqual([1]);
  });

  test.each([
    ["description", { description: "Sends words" }],
    ["parameters", { parameters: { type: "object" } }],
    ["target_subject", { target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.other.run" }],
    ["after_execution", { after_execution: "terminate" }],
    ["options.retry", { options: { retry: "safe" } }],
  ])("[SEC-10-E8] another %s is a new version that says what changed; the old one stays", async (field, changes) => {
    const name = `changed_${field.replace(".", "_")}`;
    await world.tools.upsertTool(A, sampleTool(name));
    expect(await world.tools.upsertTool(A, sampleTool(name, changes))).toMatchObject({
      outcome: "replaced",
      version: 2,
      changed: [field],
    });
    expect(await versionsOf(name)).toEqual([2, 1]);
    const [, first] = (await world.tools.listToolVersions(A, name)).items;
    expect(first?.definition.description).toBe("Counts words");
  });

  test("[UTP-5.1-E1] a definition is replaced whole: what the new one leaves out is gone", async () => {
    await world.tools.upsertTool(A, sampleTool("whole", { options: { retry: "safe", timeout_seconds: 5 } }));
    await world.tools.upsertTool(A, sampleTool("whole", { options: { timeout_seconds: 6 } }));
    expect((await world.tools.getTool(A, "whole"))?.definition.options).toEqual({ timeout_seconds: 6 });
  });

  test("[API-3-E1] a name of another source is a conflict that names both", async () => {
    await world.tools.upsertTool(A, sampleTool("owned"), { source: "openapi:petstore" });
    await expect(
      world.tools.upsertTool(A, sampleTool("owned", { description: "x" }), { source: "mcp:files" }),
    ).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringMatching(/openapi:petstore.*mcp:files/),
      detail: { tool_name: "owned", owner: "openapi:petstore", source: "mcp:files" },
    });
    expect(await world.tools.getTool(A, "owned")).toMatchObject({ version: 1, source: "openapi:petstore" });
    expect(await world.tools.upsertTool(B, sampleTool("owned"), { source: "mcp:files" })).toMatchObject({ version: 1 });
  });

  test("[UTP-5.2-E2] an upload that breaks a rule is a typed refusal, and a missing project is not_found", async () => {
    await expect(
      world.tools.upsertTool(A, sampleTool("bad", { parameters: { type: "strnig" } })),
    ).rejects.toMatchObject({
      code: "bad_request",
    });
    await expect(world.tools.upsertTool(A, sampleTool("submit_result"))).rejects.toMatchObject({ code: "bad_request" });
    for (const project of ["proj_none", "a.b", ""])
      await expect(world.tools.upsertTool(project, sampleTool("bad"))).rejects.toBeInstanceOf(ToolplaneError);
    await expect(world.tools.upsertTool("proj_none", sampleTool("bad"))).rejects.toMatchObject({ code: "not_found" });
  });

  test("[SEC-7-E2] a variable that is not on the project's list is refused", async () => {
    const tool = sampleTool("secretive", { options: { envs: { key: "JINA_API_KEY" } } });
    await expect(world.tools.upsertTool(A, tool, { allowEnv: () => false })).rejects.toMatchObject({
      code: "bad_request",
    });
    expect(await world.tools.upsertTool(A, tool, { allowEnv: (name) => name === "JINA_API_KEY" })).toMatchObject({
      version: 1,
    });
    const own = sampleTool("own_secret", { options: { envs: { key: "DATABASE_URL" } } });
    await expect(world.tools.upsertTool(A, own, { allowEnv: () => true })).rejects.toMatchObject({
      code: "bad_request",
    });
  });

  test("many at once: each has its own outcome and the good ones are in", async () => {
    await world.tools.upsertTool(A, sampleTool("batch_b"));
    const results = await world.tools.upsertTools(A, [
      sampleTool("batch_a"),
      sampleTool("batch_bad", { after_execution: "explode" }),
      sampleTool("batch_b"),
      sampleTool("batch_c"),
      sampleTool("batch_c"),
      sampleTool("batch_c", { description: "another" }),
    ]);
    expect(results.map((result) => (result instanceof ToolplaneError ? result.code : result.outcome))).toEqual([
      "created",
      "bad_request",
      "unchanged",
      "created",
      "unchanged",
      "conflict",
    ]);
    expect(await versionsOf("batch_c")).toEqual([1]);
  });

  test("more than five hundred at once are refused", async () => {
    const uploads = Array.from({ length: 501 }, () => ({}));
    await expect(world.tools.upsertTools(A, uploads)).rejects.toMatchObject({ code: "bad_request" });
  });
});

describe("at once", () => {
  test("[UTP-5.1-E2] thirty writers of one name with thirty definitions make thirty versions, one after the other", async () => {
    const results = await Promise.all(
      Array.from({ length: 30 }, (_, i) => world.tools.upsertTool(A, sampleTool("busy", { description: `text ${i}` }))),
    );
    expect(results.map(({ version }) => version).sort((x, y) => x - y)).toEqual(
      Array.from({ length: 30 }, (_, i) => i + 1),
    );
    expect(results.filter(({ outcome }) => outcome === "created")).toHaveLength(1);
    const versions = (await world.tools.listToolVersions(A, "busy")).items;
    expect(versions.map(({ version }) => version)).toEqual(Array.from({ length: 30 }, (_, i) => 30 - i));
    const current = await world.tools.getTool(A, "busy");
    expect(current).toMatchObject({ version: 30, definitionHash: versions[0]?.definitionHash });
  });

  test("[UTP-5.1-E2] thirty writers of one definition make one version", async () => {
    const results = await Promise.all(Array.from({ length: 30 }, () => world.tools.upsertTool(A, sampleTool("calm"))));
    expect(results.filter(({ outcome }) => outcome === "created")).toHaveLength(1);
    expect(await versionsOf("calm")).toEqual([1]);
  });

  test("[API-3-E1] two sources that race for a name: one gets it, the other a conflict", async () => {
    const race = ["s1", "s2"].map((source) =>
      world.tools.upsertTool(A, sampleTool("prize", { description: source }), { source }),
    );
    const outcomes = await Promise.allSettled(race);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });
});

describe("reading", () => {
  test("[UTP-5.2-E3] the engine's own tools are hidden before paging, unless asked for", async () => {
    const project = "proj_list";
    await world.projects.createProject({ project_id: project, title: "t" }, "me");
    await world.tools.upsertTools(
      project,
      ["a1", "b1", "z1"].map((name) => sampleTool(name)),
    );
    const names: string[] = [];
    for (let cursor: string | undefined, pages = 0; pages < 9; pages++) {
      const page = await world.tools.listTools(project, { limit: 2, cursor });
      names.push(...page.items.map((tool) => tool.toolName));
      if (page.nextCursor === undefined) break;
      expect(page.items).toHaveLength(2);
      cursor = page.nextCursor;
    }
    expect(names).toEqual(["a1", "b1", "emit_marker", "z1"]);
    expect(await world.tools.getTool(project, "fork_join")).toBeUndefined();
    expect(await world.tools.getTool(project, "fork_join", true)).toMatchObject({ toolName: "fork_join" });
    expect((await world.tools.listTools(project, { includeInternal: true })).items).toHaveLength(9);
  });

  test("[SEC-14-E2] tools of another project do not exist", async () => {
    await world.tools.upsertTool(A, sampleTool("private"));
    expect(await world.tools.getTool(B, "private")).toBeUndefined();
    expect((await world.tools.listToolVersions(B, "private")).items).toEqual([]);
    await expect(world.tools.deleteTool(B, "private")).rejects.toMatchObject({ code: "not_found" });
    await expect(world.tools.pauseTool(B, "private")).rejects.toMatchObject({ code: "not_found" });
  });

  test.each([{ limit: 0 }, { limit: 501 }, { limit: 1.5 }, { cursor: "%%%" }, { cursor: "" }, { cursor: "AA" }])(
    "a page request of %j is refused",
    async (request) => {
      await expect(world.tools.listTools(A, request)).rejects.toMatchObject({ code: "bad_request" });
    },
  );
});

describe("[UTP-5.3-20] values that a definition gives itself", () => {
  const parameters = {
    type: "object",
    properties: {
      n: { type: "integer", minimum: 1 },
      word: { enum: ["a", "b"] },
      text: { type: "string", maxLength: 5 },
      ref: { $ref: "#/$defs/flag" },
      list: { type: "array", items: { $ref: "#/properties/n" } },
      open: {},
    },
    required: ["n", "other"],
    anyOf: [{ required: ["zip"] }, { required: ["city"] }],
    $defs: { flag: { type: "boolean" } },
  };
  const register = (args: object, more: object = {}) =>
    world.tools.upsertTool(A, { ...sampleTool("given"), parameters, options: { args, ...more } });

  test.each([
    [{ fixed: { n: "3" } }, "options.args.fixed.n"],
    [{ fixed: { n: 0 } }, "options.args.fixed.n"],
    [{ defaults: { n: null } }, "options.args.defaults.n"],
    [{ defaults: { word: "c" } }, "options.args.defaults.word"],
    [{ defaults: { n: "{turn_epoch}" } }, "options.args.defaults.n"],
    [{ fixed: { ref: "yes" } }, "options.args.fixed.ref"],
    [{ fixed: { list: [1, 0] } }, "options.args.fixed.list"],
    [{ fixed: { text: "too long" } }, "options.args.fixed.text"],
  ])("%j is refused by its key", async (args, key) => {
    await expect(register(args)).rejects.toMatchObject({
      code: "bad_request",
      message: expect.stringMatching(
        new RegExp(`^${key} is not a value that parameters.properties.*; correct one`, "u"),
      ),
      detail: { path: `$.${key}` },
    });
  });

  test.each([
    [{ fixed: { n: 1, word: "a", ref: true, list: [2], open: null, unknown: 5 } }, {}],
    [{ defaults: { text: "{tool_call_id}" } }, {}],
    [{ defaults: { text: "{{ab}}" } }, {}],
    // Another layer replaces them, so they are never used.
    [{ fixed: { n: 1 }, defaults: { n: "x" } }, {}],
    [{ defaults: { n: "x" } }, { envs: { n: "SOME_KEY" } }],
  ])("%j with %j is taken", async (args, more) => {
    expect((await register(args, more)).toolName).toBe("given");
  });
});
