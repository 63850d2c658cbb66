import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { defineHostTools, type HostToolsOptions, hostTarget, type OfferedTools } from "./host-definitions.ts";

const means = {
  sha256: (text: string): string => createHash("sha256").update(text).digest("hex"),
  compileSchema: (schema: unknown) => {
    if (JSON.stringify(schema).includes("not a type")) throw new TypeError("type must be one of the known ones");
    return () => [];
  },
};

const tool = (name: string, parameters: object = { type: "object", properties: {} }) => ({
  name,
  description: `${name} it`,
  parameters: parameters as never,
});

const define = (offered: Partial<OfferedTools>, given: Partial<HostToolsOptions> = {}) =>
  defineHostTools(
    { tools: [], refused: [], tags: undefined, requiredTags: undefined, ...offered },
    { host: "text", projectId: "p1", isRetrySafe: () => false, ...given },
    means,
  );

describe("names and subjects", () => {
  test("[HOST-4-20] a tool is host__tool on the host's own target", () => {
    const { tools, refused } = define({ tools: [tool("count")] });
    expect(refused).toEqual([]);
    expect(tools[0]?.definition).toMatchObject({
      tool_name: "text__count",
      description: "count it",
      target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.host_text.count",
      after_execution: "suspend",
      options: {},
    });
    expect(hostTarget("text")).toBe("host_text");
  });

  test.each([
    ["", "count"],
    ["my_", "my_count"],
  ])("[HOST-4-20] prefix %j makes it %s", (prefix, name) => {
    expect(define({ tools: [tool("count")] }, { prefix }).tools[0]?.definition.tool_name).toBe(name);
  });
});

test.each([
  [
    "a schema that does not compile",
    tool("bad", { type: "object", properties: { a: { type: "not a type" } } }),
    "JSON Schema",
  ],
  ["a name that gets too long", tool("x".repeat(60)), "tool_name"],
  ["parameters that are not an object's", tool("bad", { type: "string" }), "parameters"],
  ["a hidden character in its description", { ...tool("bad"), description: "a\u202eb" }, "description"],
])("[HOST-4-20] %s is reported by name and skipped, the rest work", (_what, bad, says) => {
  const { tools, refused } = define({ tools: [bad, tool("good")], refused: [{ name: "#7", reason: "no name" }] });
  expect(tools.map(({ hostTool }) => hostTool)).toEqual(["good"]);
  expect(refused).toEqual([
    { name: "#7", reason: "no name" },
    { name: bad.name, reason: expect.stringContaining(says) },
  ]);
});

test.each<[string, Partial<HostToolsOptions>, Partial<OfferedTools>, object]>([
  ["nothing said", {}, {}, {}],
  ["safe by its glob", { isRetrySafe: (name) => name === "count" }, {}, { retry: "safe" }],
  ["a deadline", { timeoutSeconds: 5 }, {}, { timeout_seconds: 5 }],
  ["a session per agent", { session: "agent" }, {}, { session: "agent" }],
  ["no session", { session: "none" }, {}, {}],
  ["control allowed", { control: "allow" }, {}, { control: "allow" }],
  ["control not allowed", { control: "strip" }, {}, {}],
  ["tags", {}, { tags: ["text"], requiredTags: ["vision"] }, { tags: ["text"], required_tags: ["vision"] }],
  ["empty tags", {}, { tags: [], requiredTags: [] }, {}],
])("[HOST-4-T1] options come from the configuration and the host's tags: %s", (_what, given, offered, options) => {
  expect(define({ tools: [tool("count")], ...offered }, given).tools[0]?.definition.options).toEqual(options);
});

describe("[HOST-4-14] a session named by an argument", () => {
  test("the argument is added for a host that does not know it, and kept from it", () => {
    const [defined] = define(
      {
        tools: [tool("count", { type: "object", properties: { a: { type: "string" } }, additionalProperties: false })],
      },
      { session: "argument" },
    ).tools;
    expect(defined?.ownsSessionArgument).toBe(true);
    expect(Object.keys(defined?.definition.parameters.properties as object).sort()).toEqual(["a", "session_id"]);
  });

  test("a host's own session_id is its own", () => {
    const own = { type: "object", properties: { session_id: { type: "string" } } };
    const [defined] = define({ tools: [tool("count", own)] }, { session: "argument" }).tools;
    expect(defined?.ownsSessionArgument).toBe(false);
    expect(defined?.definition.parameters).toEqual(own);
  });
});
