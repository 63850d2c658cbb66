import { describe, expect, test } from "vitest";
import { modelToolSpec, submitResultSpec } from "./model-spec.ts";
import { parseToolDefinition } from "./parse-definition.ts";

const spec = (parts: Readonly<Record<string, unknown>>) =>
  modelToolSpec(
    parseToolDefinition(
      {
        tool_name: "search",
        target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.web.search",
        after_execution: "suspend",
        ...parts,
      },
      { projectId: "p1", version: "v1r4", compileSchema: () => () => [] },
    ),
  );

const text = { type: "string" };

describe("modelToolSpec", () => {
  test("[UTP-5.4-1] without description and parameters it is a function that takes nothing", () => {
    expect(spec({})).toEqual({
      type: "function",
      function: { name: "search", description: "", parameters: { type: "object", properties: {} } },
    });
  });

  test("[UTP-5.4-2] [SEC-8-6] fixed and env-managed parameters are neither shown nor required", () => {
    const parameters = {
      type: "object",
      properties: { q: text, project_id: text, api_key: text },
      required: ["q", "project_id", "api_key"],
      dependentRequired: { q: ["api_key"], api_key: ["q"] },
      dependentSchemas: { q: { properties: { api_key: text }, required: ["api_key"] }, api_key: { required: ["q"] } },
      allOf: [{ properties: { api_key: { minLength: 1 }, q: { minLength: 1 } }, required: ["api_key"] }],
    };
    const options = { args: { fixed: { project_id: "{project_id}" } }, envs: { api_key: "SEARCH_API_KEY" } };
    const shown = spec({ parameters, options });
    expect(shown.function.parameters).toEqual({
      type: "object",
      properties: { q: text },
      required: ["q"],
      dependentRequired: { q: [] },
      dependentSchemas: { q: { properties: {}, required: [] } },
      allOf: [{ properties: { q: { minLength: 1 } }, required: [] }],
    });
    expect(JSON.stringify(shown)).not.toMatch(/api_key|project_id|SEARCH_API_KEY/);
  });

  test("[UTP-5.4-3] a default is shown as written, where the property has none of its own", () => {
    const parameters = {
      type: "object",
      properties: { n: { type: "integer" }, s: { ...text, default: "own" }, any: true },
    };
    const options = { args: { defaults: { n: 3, s: "ours", session_id: "{agent_turn_id}", any: 1 } } };
    expect(spec({ parameters, options }).function.parameters).toEqual({
      type: "object",
      properties: { n: { type: "integer", default: 3 }, s: { type: "string", default: "own" }, any: true },
    });
    const templated = { type: "object", properties: { session_id: text } };
    expect(spec({ parameters: templated, options }).function.parameters).toEqual({
      type: "object",
      properties: { session_id: { type: "string", default: "{agent_turn_id}" } },
    });
  });

  test("[UTP-5.4-4] the schema is a copy; changing it changes nothing else", () => {
    const definition = parseToolDefinition(
      {
        tool_name: "search",
        target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.web.search",
        after_execution: "suspend",
        parameters: { type: "object", properties: { q: { type: "string", enum: ["a"] } } },
      },
      { projectId: "p1", version: "v1r4", compileSchema: () => () => [] },
    );
    const shown = modelToolSpec(definition).function.parameters as { properties: { q: { enum: string[] } } };
    shown.properties.q.enum.push("b");
    expect(modelToolSpec(definition).function.parameters).toMatchObject({ properties: { q: { enum: ["a"] } } });
  });
});

describe("submitResultSpec", () => {
  test("[UTP-5.4-5] without required fields it takes any result", () => {
    const { function: shown } = submitResultSpec();
    expect(shown.name).toBe("submit_result");
    expect(shown.parameters).toMatchObject({
      type: "object",
      properties: { result: { anyOf: [{ type: "object" }, { type: "string" }] } },
      required: ["result"],
    });
  });

  test("[UTP-5.4-6] required fields are listed by name and description", () => {
    const { parameters } = submitResultSpec([
      { name: "summary", description: "in one line" },
      { name: "open questions" },
    ]).function;
    expect(parameters).toMatchObject({
      properties: {
        result: {
          type: "object",
          required: ["fields"],
          properties: {
            fields: {
              type: "array",
              minItems: 2,
              description: "One entry for each of: summary (in one line); open questions",
              items: {
                properties: { name: { enum: ["summary", "open questions"] }, value: { type: "string" } },
                required: ["name", "value"],
              },
            },
          },
        },
      },
      required: ["result"],
    });
  });
});
