import { createHash } from "node:crypto";
import { type JsonObject, type JsonValue, ToolplaneError } from "@toolplane/protocol";
import { type ExecuteContext, type PreparedResult, silentLog, type ToolCall } from "@toolplane/sdk";
import { describe, expect, test } from "vitest";
import type { ExecuteRequest, ExecuteResult, ToolHost } from "../hosts/host.ts";
import { defineHostTools, type HostToolsOptions } from "./host-definitions.ts";
import { createHostExecutor } from "./host-executor.ts";

type Host = Pick<ToolHost, "execute" | "formatResult" | "formatCallPreview" | "toDisplayFormat">;

const toolsWith = (given: Partial<HostToolsOptions> = {}) =>
  defineHostTools(
    {
      tools: [{ name: "count", description: "", parameters: { type: "object", properties: {} } }],
      refused: [],
      tags: undefined,
      requiredTags: undefined,
    },
    { host: "text", projectId: "p1", isRetrySafe: () => false, ...given },
    { compileSchema: () => () => [], sha256: (text) => createHash("sha256").update(text).digest("hex") },
  ).tools;

const success: ExecuteResult = {
  outcome: { status: "success", result: { n: 1 } },
  state: { s: 2 },
  attempts: 1,
  pid: 1,
};

const hostOf = (more: Partial<Host> = {}, seen: ExecuteRequest[] = []): Host => ({
  execute: async (request) => {
    seen.push(request);
    return success;
  },
  formatResult: async () => undefined,
  formatCallPreview: async () => undefined,
  toDisplayFormat: async () => undefined,
  ...more,
});

const callOf = (more: Partial<ToolCall> = {}): ToolCall =>
  ({ toolName: "text__count", arguments: { a: 1 }, deadline: 1_500, session: undefined, ...more }) as ToolCall;

const context = {
  signal: new AbortController().signal,
  emit: () => undefined,
  log: silentLog,
} as unknown as ExecuteContext;

const run = async (host: Host, given: Partial<HostToolsOptions> = {}, call: Partial<ToolCall> = {}) => {
  const executor = createHostExecutor({ host, tools: toolsWith(given), now: () => 1_000 });
  const value = await executor.execute(callOf(call), context);
  return (value as PreparedResult).fields;
};

describe("a call", () => {
  test("[UTP-D28-T1] a host is asked for its own tool with what the runner read, and nothing else", async () => {
    const seen: ExecuteRequest[] = [];
    const fields = await run(hostOf({}, seen), {}, { session: { s: 1 } });
    expect(seen).toEqual([
      {
        toolName: "count",
        arguments: { a: 1 },
        state: { s: 1 },
        deadlineMs: 500,
        signal: context.signal,
        emit: context.emit,
      },
    ]);
    expect(fields).toMatchObject({ status: "success", result: { n: 1 } });
  });

  test.each([
    ["none", undefined],
    ["agent", { s: 2 }],
    ["argument", { s: 2 }],
  ] as const)("[HOST-4-16] session %s leaves %j", async (session, state) => {
    expect((await run(hostOf(), { session })).sessionState).toEqual(state);
  });

  test("[HOST-4-14] the name of a session is kept from a host that did not ask for it", async () => {
    const seen: ExecuteRequest[] = [];
    await run(hostOf({}, seen), { session: "argument" }, { arguments: { a: 1, session_id: "x" } as JsonObject });
    expect(seen[0]?.arguments).toEqual({ a: 1 });
  });

  test("a failure is thrown as the host's supervisor made it", async () => {
    const error = new ToolplaneError("outcome_unknown", "it died");
    const host = hostOf({
      execute: async () => ({
        outcome: { status: "failed", error, written: true },
        state: undefined,
        attempts: 1,
        pid: 1,
      }),
    });
    await expect(run(host)).rejects.toBe(error);
  });

  test("a tool the host does not have is not found", async () => {
    await expect(run(hostOf(), {}, { toolName: "text__other" })).rejects.toMatchObject({ code: "not_found" });
    expect(
      createHostExecutor({ host: hostOf(), tools: toolsWith(), now: () => 0 }).find("text__other"),
    ).toBeUndefined();
  });
});

test.each([
  [{ isRetrySafe: () => true }, { retry: "safe", control: "strip", timeoutSeconds: 30 }],
  [
    { control: "allow", timeoutSeconds: 7 },
    { retry: "never", control: "allow", timeoutSeconds: 7 },
  ],
] as const)("[HOST-4-T1] the profile is the definition's: %j", (given, expected) => {
  const executor = createHostExecutor({ host: hostOf(), tools: toolsWith(given), now: () => 0 });
  expect(executor.find("text__count")).toMatchObject({ ...expected, secrets: [], envs: {}, pin: "record" });
});

describe("[HOST-2-V2] views", () => {
  const native = { type: "provider_native_tool_result", format: "openai.responses", output: [] };

  test("a host that formats nothing has none", async () => {
    expect((await run(hostOf())).views).toEqual({ model: undefined, display: undefined, preview: undefined });
  });

  test("each is asked for with the answer and the new state", async () => {
    const asked: object[] = [];
    const host = hostOf({
      formatResult: async ({ result, state }) => {
        asked.push({ result, state });
        return { kind: "text", text: "one word" };
      },
      formatCallPreview: async ({ toolName, arguments: args }) => `${toolName} ${JSON.stringify(args)}`,
      toDisplayFormat: async ({ text, result, state }) => {
        asked.push({ text, result, state });
        return { title: "Words" };
      },
    });
    expect((await run(host)).views).toEqual({
      model: "one word",
      display: { title: "Words" },
      preview: 'count {"a":1}',
    });
    const about = { result: { success: true, result: { n: 1 } }, state: { s: 2 } };
    expect(asked).toEqual([about, { ...about, text: "one word" }]);
  });

  test.each<[string, JsonValue, number]>([
    ["a long text", "a".repeat(1_100_000), 0],
    ["many long rows", Array.from({ length: 12_000 }, () => ({ text: "b".repeat(100) })), 0],
    ["a text that fits", "a".repeat(500_000), 1],
  ])("[STALL-6] only what will be kept is sent back to be shown: %s", async (_name, result, times) => {
    let asked = 0;
    const host = hostOf({
      execute: async () => ({ ...success, outcome: { status: "success", result } }),
      formatResult: async () => {
        asked += 1;
        return undefined;
      },
    });
    expect((await run(host)).result).toBe(result);
    expect(asked).toBe(times);
  });

  test("an envelope stays one, and is shown to people as its text", async () => {
    let shown = "";
    const host = hostOf({
      formatResult: async () => ({ kind: "native", format: "openai.responses", envelope: native }),
      toDisplayFormat: async ({ text }) => {
        shown = text;
        return {};
      },
    });
    expect((await run(host)).views?.model).toEqual(native);
    expect(shown).toBe(JSON.stringify(native));
  });

  test("a host that fails to format has still answered", async () => {
    const broken = () => Promise.reject(new ToolplaneError("upstream_unavailable", "gone"));
    const host = hostOf({ formatResult: broken, formatCallPreview: broken, toDisplayFormat: broken });
    expect(await run(host)).toMatchObject({ status: "success", result: { n: 1 } });
  });
});
