// `toolplane mcp`: a client that starts a program, over the same server as every other door.

import { defineTool } from "@toolplane/sdk";
import { until } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { echo, type McpStack, startMcpStack } from "./mcp-stack.ts";
import { connectStdio } from "./stdio-client.ts";

const told = new Set<string>();

const wait = defineTool({
  name: "wait",
  description: "Waits until it is canceled",
  parameters: { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const,
  run: ({ name }, { signal, emit }) =>
    new Promise((_resolve, reject) => {
      emit("begun");
      told.add(name);
      signal.addEventListener("abort", () => {
        told.add(`${name} canceled`);
        reject(signal.reason);
      });
    }),
});

let stack: McpStack;
beforeAll(async () => {
  stack = await startMcpStack([echo, wait]);
});
afterAll(() => stack[Symbol.asyncDispose]());

describe.each(["auto", "legacy"] as const)("[API-MCP-4] a client on stdio (%s)", (mode) => {
  const connect = (...more: string[]) => connectStdio(mode, { url: stack.origin, token: stack.http.admin }, more);

  test("lists, calls, and ends when its stdin is closed", async () => {
    const stdio = await connect("--tool", "echo");
    expect((await stdio.client.listTools()).tools.map(({ name }) => name)).toEqual(["echo"]);
    expect(await stdio.client.callTool({ name: "echo", arguments: { text: "ä" } })).toMatchObject({
      structuredContent: { said: "ä" },
    });
    await stdio.client.close();
    expect(await stdio.ended).toBe(0);
  });

  test("hears progress and cancels", async () => {
    await using stdio = await connect();
    const heard: unknown[] = [];
    const stop = new AbortController();
    const call = stdio.client.callTool(
      { name: "wait", arguments: { name: mode } },
      { signal: stop.signal, onprogress: (said) => heard.push(said) },
    );
    await until("progress was heard", () => heard.length > 0);
    stop.abort();
    await expect(call).rejects.toThrow();
    await until("the tool was told", () => told.has(`${mode} canceled`));
  });
});

test("a token that is refused is said to the client, with what to do", async () => {
  const refused = connectStdio("legacy", { url: stack.origin, token: "wrong" });
  await expect(refused).rejects.toThrow(/unknown, expired or revoked/);
});
