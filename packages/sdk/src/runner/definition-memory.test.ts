// What runs is what the call was made with (DM1, DM2).

import { definitionHash, type ToolDefinition } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { createRunnerWorld } from "../../test/runner-world.ts";
import { sha256 } from "../ports/ids.ts";
import { createDefinitionMemory, planDefinitionRef } from "./definition-memory.ts";

const definitionOf = (description: string): ToolDefinition => ({
  tool_name: "count_words",
  description,
  parameters: {},
  target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.text.count_words",
  after_execution: "suspend",
  options: {},
});

const refOf = (definition: ToolDefinition, version = 1) => ({
  toolName: definition.tool_name,
  version,
  definitionHash: definitionHash(definition, sha256),
});

const shelf = (...definitions: readonly (ToolDefinition | undefined)[]) => {
  const asked: number[] = [];
  return {
    asked,
    readDefinition: async ({ version }: { readonly version: number }) => {
      asked.push(version);
      return definitions[version - 1];
    },
  };
};

describe("definitions", () => {
  test("[HTTP-1-3] are read once and kept by hash, as far as the memory reaches", async () => {
    const [one, two] = [definitionOf("one"), definitionOf("two")];
    const memory = createDefinitionMemory(sha256, 300);
    const gateway = shelf(one, two);
    for (const ref of [refOf(one), refOf(one), refOf(two, 2), refOf(one)]) await memory.read(ref, gateway);
    expect(gateway.asked).toEqual([1, 2, 1]);
  });

  test.each([
    ["another hash", definitionOf("changed"), "definition_changed"],
    ["no such version", undefined, "not_found"],
  ] as const)("[HTTP-1-3] %s is refused", async (_what, found, code) => {
    const memory = createDefinitionMemory(sha256);
    await expect(memory.read(refOf(definitionOf("one")), shelf(found))).rejects.toMatchObject({ code });
  });

  test("a card without a version is a violation", () => {
    expect(() => planDefinitionRef("count_words", { definition_hash: "x" })).toThrow("does not name the version");
  });
});

test("an executor without `profileOf` reads no definition", async () => {
  const world = createRunnerWorld();
  await world.runner.handle(world.call.command);
  expect(world.gateway.operations).not.toContain("readDefinition");
});
