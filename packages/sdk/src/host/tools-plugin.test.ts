import type { JsonObject } from "@toolplane/protocol";
import { afterEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { silentLog } from "../ports/log.ts";
import { defineTool } from "../tools/define-tool.ts";
import { ToolError } from "../tools/tool-error.ts";
import { toolResult } from "../tools/tool-result.ts";
import type { HostToolCall } from "./plugin.ts";
import { createToolsPlugin } from "./tools-plugin.ts";

const parameters = z.object({ text: z.string(), top: z.number().default(5) });
const base = { name: "shop", description: "A shop", parameters };

const callOf = (given: JsonObject, more: Partial<HostToolCall> = {}): HostToolCall => ({
  toolName: "shop",
  arguments: given,
  state: {},
  emit: () => undefined,
  signal: new AbortController().signal,
  deadlineMs: undefined,
  log: silentLog,
  ...more,
});

const run = (body: Parameters<typeof defineTool<typeof parameters>>[0]["run"], given: JsonObject = { text: "a" }) =>
  createToolsPlugin([defineTool({ ...base, run: body })]).executeTool(callOf(given));

afterEach(() => vi.unstubAllEnvs());

describe("[HOST-3-2] tools made with defineTool as a plugin", () => {
  test("every method is derived", async () => {
    const plugin = createToolsPlugin([defineTool({ ...base, run: () => 1 })]);
    expect(await plugin.init?.({})).toEqual({});
    expect(await plugin.getToolSchemas({})).toMatchObject([
      { name: "shop", description: "A shop", parameters: { type: "object", required: ["text"] } },
    ]);
    expect(await plugin.getConfigSchema?.()).toMatchObject({ type: "object", additionalProperties: false });
    expect(await plugin.getUiElements?.()).toEqual([]);
    expect(await plugin.getTags?.({ config: {}, models: [] })).toEqual([]);
    expect(await plugin.requiredTags?.()).toEqual([]);
    const about = { toolName: "shop", arguments: { text: "a" }, state: {} };
    expect(await plugin.formatToolCallPreview?.(about)).toBe('shop({"text":"a"})');
    expect(await plugin.toDisplayFormat?.({ text: "", result: [1], state: {} })).toEqual({ text: "[1]" });
    expect(await plugin.toDisplayFormat?.({ text: "t", result: [1], state: {} })).toEqual({ text: "t" });
  });

  test.each([
    ["a text", "hi", "hi"],
    ["data", { a: [1] }, '{"a":[1]}'],
    ["a whole outcome", { success: true, result: "hi" }, "hi"],
    ["a whole failure", { success: false, error: "no" }, "no"],
  ])("what the model reads: %s", async (_name, result, text) => {
    const plugin = createToolsPlugin([defineTool({ ...base, run: () => 1 })]);
    expect(await plugin.formatToolResult?.({ result, state: {} })).toBe(text);
  });

  test("arguments are checked and completed by the schema, and what run returns is the result", async () => {
    expect(await run((given) => given)).toEqual({ success: true, result: { text: "a", top: 5 } });
    expect(await run((given) => given, {})).toMatchObject({ success: false, error: expect.stringContaining("$.text") });
  });

  test("a tool that says no is success false in its words; anything else it throws stays an error", async () => {
    const sold = () => {
      throw new ToolError("out_of_stock", "none left");
    };
    const broken = () => {
      throw new RangeError("broken");
    };
    expect(await run(sold)).toEqual({ success: false, error: "none left" });
    await expect(run(broken)).rejects.toThrow(RangeError);
  });

  test("a prepared result keeps its error or its state", async () => {
    const kept = await run(() => toolResult({ status: "success", result: 1, sessionState: { n: 1 } }));
    expect(kept).toEqual({ success: true, result: 1, state: { n: 1 } });
    const failed = await run(() => toolResult({ status: "failed", error: "no" }));
    expect(failed).toEqual({ success: false, error: "no" });
  });

  test("secrets come from the environment; one that is missing is a refusal, not an empty text", async () => {
    const tool = defineTool({
      ...base,
      secrets: ["SHOP_KEY"],
      envs: { text: "SHOP_TEXT" },
      run: ({ text }, { secrets }) => [text, secrets.SHOP_KEY],
    });
    const plugin = createToolsPlugin([tool]);
    expect(await plugin.executeTool(callOf({}))).toMatchObject({ success: false });
    vi.stubEnv("SHOP_KEY", "k");
    vi.stubEnv("SHOP_TEXT", "t");
    expect(await plugin.executeTool(callOf({}))).toEqual({ success: true, result: ["t", "k"] });
  });

  test("parts, log and signal are the call's own; what a host is not told is refused", async () => {
    const emit = vi.fn();
    const given = callOf({ text: "a" }, { emit });
    const seen: unknown[] = [];
    const tool = defineTool({
      ...base,
      run: (_, context) => {
        context.emit({ part: 1 });
        seen.push(context.signal, context.log);
        return context.idempotencyKey;
      },
    });
    await expect(createToolsPlugin([tool]).executeTool(given)).rejects.toThrow("idempotency key is not known");
    expect(seen).toEqual([given.signal, given.log]);
    expect(emit).toHaveBeenCalledWith({ part: 1 });
  });

  test("a tool it does not have is said so", async () => {
    const plugin = createToolsPlugin([]);
    expect(await plugin.executeTool(callOf({}))).toEqual({ success: false, error: "there is no tool shop here" });
  });
});
