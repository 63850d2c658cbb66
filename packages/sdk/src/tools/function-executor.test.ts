import { describe, expect, test } from "vitest";
import { sha256 } from "../ports/ids.ts";
import type { ExecuteContext, ToolCall } from "../runner/executor.ts";
import { defineTool } from "./define-tool.ts";
import { createFunctionExecutor } from "./function-executor.ts";

const parameters = { type: "object", properties: { list: { type: "array", items: { type: "number" } } } } as const;
const push = defineTool({
  name: "push",
  description: "Changes its arguments",
  parameters,
  timeoutSeconds: 7,
  secrets: ["A_KEY"],
  envs: { key: "B_KEY" },
  run: ({ list = [] }) => {
    list.push(1);
    return list.length;
  },
});
const place = { projectId: "demo", target: "text", sha256 };

describe("createFunctionExecutor", () => {
  test("what the code says about a tool", () => {
    const profile = createFunctionExecutor({ tools: [push], ...place }).find("push");
    expect(profile).toMatchObject({
      retry: "never",
      timeoutSeconds: 7,
      pin: "record",
      control: "allow",
      secrets: ["A_KEY"],
      envs: { key: "B_KEY" },
    });
    expect(profile?.definitionHash).toMatch(/^[0-9a-f]{64}$/);
    const elsewhere = createFunctionExecutor({ tools: [push], ...place, target: "other" }).find("push");
    expect(elsewhere?.definitionHash).not.toBe(profile?.definitionHash);
  });

  test("every run gets arguments of its own", async () => {
    const executor = createFunctionExecutor({ tools: [push], ...place });
    const call = { toolName: "push", arguments: { list: [5] } } as unknown as ToolCall;
    expect(await executor.execute(call, {} as ExecuteContext)).toBe(2);
    expect(await executor.execute(call, {} as ExecuteContext)).toBe(2);
  });

  test("two tools of one name are a mistake; one it does not have is not found", async () => {
    expect(() => createFunctionExecutor({ tools: [push, push], ...place })).toThrow("two tools are named push");
    const executor = createFunctionExecutor({ tools: [push], ...place });
    expect(executor.find("pull")).toBeUndefined();
    const call = { toolName: "pull", arguments: {} } as unknown as ToolCall;
    await expect(executor.execute(call, {} as ExecuteContext)).rejects.toMatchObject({ code: "not_found" });
  });
});
