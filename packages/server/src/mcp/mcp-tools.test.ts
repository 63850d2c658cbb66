import { expect, test } from "vitest";
import { planMcpTool } from "./mcp-tools.ts";

test("a tool is shown without what its author manages, with its hints", () => {
  const shown = planMcpTool({
    tool_name: "t",
    description: "d",
    parameters: {
      type: "object",
      properties: { a: { type: "string" }, fixed: {}, token: {}, answers: {} },
      required: ["a", "fixed", "token"],
    },
    target_subject: "x",
    after_execution: "suspend",
    options: {
      args: { fixed: { fixed: 1 }, defaults: { a: "b" } },
      envs: { token: "TOKEN" },
      input: "answers",
      retry: "safe",
      title: "T",
      annotations: { read_only: true },
      output_schema: { type: "object" },
    },
  });
  expect(shown).toEqual({
    name: "t",
    title: "T",
    description: "d",
    inputSchema: { type: "object", properties: { a: { type: "string", default: "b" } }, required: ["a"] },
    outputSchema: { type: "object" },
    annotations: { readOnlyHint: true, idempotentHint: true },
  });
});
