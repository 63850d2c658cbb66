import { describe, expect, test } from "vitest";
import { defineMcpTools, type ListedMcpTool } from "./mcp-definitions.ts";

const means = { compileSchema: () => () => [], sha256: (text: string) => `hash of ${text.length}` };
const tool = (name: string, more: Partial<ListedMcpTool> = {}): ListedMcpTool => ({
  name,
  description: name,
  inputSchema: { type: "object", properties: {} },
  ...more,
});
const define = (tools: readonly ListedMcpTool[], more: object = {}) =>
  defineMcpTools(
    tools,
    { server: "files", projectId: "demo", trustHints: false, isWanted: () => true, ...more },
    means,
  );

describe("tools of an MCP server", () => {
  test("[API-MCP-1] are named after the server, strictly pinned, and keep the server's own name for the call", () => {
    const [one] = define([tool("a/b.c", { title: "Title" })]).tools;
    expect(one).toMatchObject({
      mcpTool: "a/b.c",
      definition: {
        tool_name: "files__a_b_c",
        target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.mcp_files.a_b_c",
        options: { pin: "strict", title: "Title" },
      },
    });
    expect(define([tool("x")], { prefix: "" }).tools[0]?.definition.tool_name).toBe("x");
  });

  test("that meet in one name, have a name that is too long, or no usable text or schema are refused by name", () => {
    const { tools, refused } = define([
      tool("a.b"),
      tool("a_b"),
      tool("n".repeat(64)),
      tool("hidden", { description: "a\u202Eb" }),
      tool("schema", { inputSchema: { type: "object", properties: { a: { type: "array" } } } }),
    ]);
    expect(tools.map(({ mcpTool }) => mcpTool)).toEqual(["a.b"]);
    expect(refused.map(({ name }) => name.slice(0, 6))).toEqual(["a_b", "nnnnnn", "hidden", "schema"]);
  });

  test("that the patterns leave out are named by their names here", () => {
    const { tools, leftOut } = define([tool("read_a"), tool("write_a")], {
      isWanted: (name: string) => name.startsWith("read"),
    });
    expect([tools.length, leftOut]).toEqual([1, ["files__write_a"]]);
  });

  test.each([
    [true, { readOnlyHint: true }, "safe"],
    [true, { idempotentHint: true }, "safe"],
    [true, { destructiveHint: false }, undefined],
    [false, { readOnlyHint: true, idempotentHint: true }, undefined],
    [true, { readOnlyHint: "yes" }, undefined],
  ])("[API-MCP-2] trusted %s, hints %j: retry %s", (trustHints, annotations, retry) => {
    expect(define([tool("t", { annotations })], { trustHints }).tools[0]?.definition.options.retry).toBe(retry);
  });
});
