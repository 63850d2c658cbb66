import { meddle } from "@toolplane/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openRegistryWorld, type RegistryWorld, sha256 } from "../../test/registry-world.ts";
import { sampleTool } from "../../test/sample-tools.ts";
import { createDefinitions, type Definitions } from "./definition-cache.ts";
import { createSchemaCompiler } from "./json-schema.ts";

let world: RegistryWorld;
let definitions: Definitions;
let compiled: number;
const A = "proj_a";
const B = "proj_b";

const countingCompile = () => {
  const compile = createSchemaCompiler();
  compiled = 0;
  return (schema: Parameters<typeof compile>[0]) => {
    compiled++;
    return compile(schema);
  };
};

const open = (maxEntries?: number): Definitions =>
  createDefinitions({ db: world.db, doorbell: world.doorbell, compile: countingCompile(), sha256, maxEntries });

const statementsOf = async (work: () => Promise<unknown>): Promise<number> => {
  const before = world.db.stats().statements;
  await work();
  return world.db.stats().statements - before;
};

beforeAll(async () => {
  world = await openRegistryWorld();
  for (const project of [A, B])
    await world.projects.createProject({ project_id: project, title: "t", bootstrap: false }, "me");
  await world.tools.upsertTools(
    A,
    ["one", "two", "three"].map((name) => sampleTool(name)),
  );
  await world.tools.upsertTool(B, sampleTool("one", { description: "B's own" }));
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => {
  definitions?.close();
  definitions = open();
});

const key = (toolName: string, projectId = A) => ({ projectId, toolName });

describe("resolve", () => {
  test("[UTP-D29-E1] answers by (project, tool_name) in the order asked, with duplicates and holes", async () => {
    const found = await definitions.resolve([key("two"), key("nobody"), key("one", B), key("one"), key("two")]);
    expect(found.map((entry) => entry && [entry.projectId, entry.toolName, entry.definition.description])).toEqual([
      [A, "two", "Counts words"],
      undefined,
      [B, "one", "B's own"],
      [A, "one", "Counts words"],
      [A, "two", "Counts words"],
    ]);
  });

  test("misses are loaded in one statement, hits in none", async () => {
    expect(await statementsOf(() => definitions.resolve([key("one"), key("two"), key("one", B)]))).toBe(1);
    expect(await statementsOf(() => definitions.resolve([key("one"), key("two"), key("one", B)]))).toBe(0);
    expect(await statementsOf(() => definitions.resolve([key("one"), key("three")]))).toBe(1);
  });

  test("what comes out can check arguments and cannot be changed", async () => {
    const [one] = await definitions.resolve([key("one")]);
    expect(one).toMatchObject({
      version: 1,
      status: "active",
      definitionHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(one?.validate({ text: "hello" })).toEqual([]);
    expect(one?.validate({})).toEqual([{ path: "$.text", message: "is missing" }]);
    expect(Object.isFrozen(one?.definition.options)).toBe(true);
    expect(Object.isFrozen(one?.definition.parameters)).toBe(true);
  });

  test("equal definitions are compiled once, wherever they are registered", async () => {
    await world.tools.upsertTool(B, sampleTool("two"));
    await definitions.resolve([key("two"), key("two", B)]);
    expect(compiled).toBe(1);
  });

  test("it holds no more than it may, and still answers", async () => {
    definitions.close();
    definitions = open(1);
    for (let round = 0; round < 2; round++) {
      const found = await definitions.resolve([key("one"), key("two"), key("three")]);
      expect(found.map((entry) => entry?.toolName)).toEqual(["one", "two", "three"]);
    }
    expect(await statementsOf(() => definitions.resolve([key("one"), key("two"), key("three")]))).toBe(1);
  });
});

describe("what is remembered", () => {
  test("a new version is seen after the ring, compiled once, and the old one stays readable", async () => {
    await world.tools.upsertTool(A, sampleTool("moving"));
    const [before] = await definitions.resolve([key("moving")]);
    await world.tools.upsertTool(A, sampleTool("moving", { description: "says something else" }));
    const [after] = await definitions.resolve([key("moving")]);
    expect([before?.version, after?.version]).toEqual([1, 2]);
    expect((await definitions.resolveVersion(A, "moving", 1))?.definition.description).toBe("Counts words");
    expect((await definitions.resolveVersion(A, "moving", 2))?.definitionHash).toBe(after?.definitionHash);
    expect(await definitions.resolveVersion(A, "moving", 3)).toBeUndefined();
  });

  test("a ring from another process counts as much, and costs no compiling", async () => {
    await definitions.resolve([key("one"), key("two")]);
    const before = compiled;
    world.doorbell.ringElsewhere("registry");
    expect(await statementsOf(() => definitions.resolve([key("one"), key("two")]))).toBe(1);
    expect(compiled).toBe(before);
  });

  test("forget makes one tool be read again", async () => {
    await definitions.resolve([key("one"), key("two")]);
    definitions.forget(A, "one");
    expect(await statementsOf(() => definitions.resolve([key("two")]))).toBe(0);
    expect(await statementsOf(() => definitions.resolve([key("one")]))).toBe(1);
  });

  test("a change that was rung while it was being read is not remembered in its old form", async () => {
    await world.tools.upsertTool(A, sampleTool("raced"));
    const reading = definitions.resolve([key("raced")]);
    world.doorbell.ringElsewhere("registry");
    await reading;
    expect(await statementsOf(() => definitions.resolve([key("raced")]))).toBe(1);
  });

  test("a deleted tool is gone for new calls, and there for calls made under it", async () => {
    await world.tools.upsertTool(A, sampleTool("leaving"));
    await world.tools.deleteTool(A, "leaving");
    expect(await definitions.resolve([key("leaving")])).toEqual([undefined]);
    expect(await definitions.resolveVersion(A, "leaving", 1)).toMatchObject({ version: 1, status: "deleted" });
  });

  test("a paused tool is still resolved, and says so", async () => {
    await world.tools.upsertTool(A, sampleTool("resting"));
    await world.tools.pauseTool(A, "resting");
    expect(await definitions.resolve([key("resting")])).toMatchObject([{ status: "paused" }]);
  });

  test("after close it hears no rings", async () => {
    await definitions.resolve([key("one")]);
    definitions.close();
    world.doorbell.ringElsewhere("registry");
    expect(await statementsOf(() => definitions.resolve([key("one")]))).toBe(0);
  });
});

describe("what must not be used", () => {
  test("[SEC-10-E6] a definition whose text does not have its hash is refused", async () => {
    await world.tools.upsertTool(A, sampleTool("tampered"));
    await meddle(world, "forgeDefinition", ["tampered", "Counts", "Sends"]);
    await expect(definitions.resolve([key("tampered")])).rejects.toMatchObject({ code: "internal_error" });
    expect((await definitions.resolve([key("one")]))[0]?.toolName).toBe("one");
  });

  test("a schema that no longer compiles fails its own calls and nobody else's", async () => {
    await world.tools.upsertTool(A, sampleTool("old"));
    const text = JSON.stringify({
      ...sampleTool("old"),
      parameters: { type: "object", properties: { a: { pattern: "(?=x)" } } },
    });
    await meddle(world, "putDefinition", ["old", text, sha256(text)]);
    const [old, one] = await definitions.resolve([key("old"), key("one")]);
    expect(old?.validate({})).toEqual([{ path: "$", message: expect.stringContaining("register the tool again") }]);
    expect(one?.validate({ text: "x" })).toEqual([]);
  });
});
