// The page for tool authors, held against the code: its examples register, its tables name every option and variable.

import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { parse as parseYaml } from "yaml";
import { uploadOptionsSchema } from "./check-options.ts";
import { toolDefinitionSchema } from "./definition.ts";
import { parseToolDefinition } from "./parse-definition.ts";
import { TEMPLATE_VARIABLES } from "./template.ts";

const page = readFileSync(new URL("../../../../docs/reference/tool-definitions.md", import.meta.url), "utf8");
const examples = page
  .split("```yaml\n")
  .slice(1)
  .map((rest) => rest.slice(0, rest.indexOf("```")));

describe("docs/reference/tool-definitions.md", () => {
  test("has examples", () => {
    expect(examples).toHaveLength(3);
  });

  test.each(examples)("its example registers:\n%s", (example) => {
    const definition = parseToolDefinition(parseYaml(example), {
      projectId: "demo",
      version: "v1r4",
      compileSchema: (schema) => {
        new Ajv2020({ strict: true }).compile(schema);
        return () => [];
      },
    });
    expect(toolDefinitionSchema.parse(definition)).toEqual(definition);
  });

  test.each([
    ...Object.keys(toolDefinitionSchema.shape),
    ...Object.keys(uploadOptionsSchema.shape).filter((key) => key !== "args"),
    ...["args.defaults", "args.fixed", "args.allow_null"],
    ...TEMPLATE_VARIABLES.map((name) => `{${name}}`),
  ])("explains %s", (name) => {
    expect(page).toContain(`\`${name}\``);
  });
});
