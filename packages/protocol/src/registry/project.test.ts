import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseProjectCreate, parseProjectPatch } from "./project.ts";

interface Fixture {
  readonly valid: readonly { readonly name: string; readonly input: unknown; readonly output: object }[];
  readonly invalid: readonly {
    readonly name: string;
    readonly input: unknown;
    readonly code: string;
    readonly says?: string;
  }[];
}

const fixture = (name: string): Fixture =>
  JSON.parse(readFileSync(new URL(`../../fixtures/v1r4/project/${name}.json`, import.meta.url), "utf8")) as Fixture;

describe.each([
  ["create", parseProjectCreate, "[UTP-5.8-1] [UTP-5.8-3] a new project"],
  ["patch", parseProjectPatch, "[UTP-5.8-2] [UTP-W30-3] a change of a project"],
] as const)("%s", (name, parse, title) => {
  const { valid, invalid } = fixture(name);

  test.each(valid)(`${title}: $name passes`, ({ input, output }) => {
    expect(parse(input)).toEqual(output);
  });

  test.each(invalid)(`${title}: $name is refused`, ({ input, code, says }) => {
    expect(() => parse(input)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(says ?? "") }));
  });
});
