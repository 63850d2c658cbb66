// `toolplane mcp`: a client that starts a program, over the same server as every other door.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
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

describe("the configurations in the guide work as they stand", () => {
  const ROOT = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
  const guide = readFileSync(`${ROOT}/docs/guides/mcp.md`, "utf8");

  /** What a reader puts in their place, and nothing else. */
  const filled = (text: string): string =>
    text
      .replaceAll("/path/to/toolplane", ROOT)
      .replaceAll("http://127.0.0.1:7420", stack.origin)
      .replaceAll(/tp_\.\.\.|\$\{input:toolplane\}|\$TOOLPLANE_TOKEN/g, stack.http.admin);
  const block = (after: string): string => {
    const from = guide.indexOf("```", guide.indexOf(after));
    return filled(guide.slice(guide.indexOf("\n", from) + 1, guide.indexOf("```", from + 3)));
  };
  const overHttp = (url: string, header: string): Transport => {
    const [name = "", value = ""] = header.split(": ");
    return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { [name]: value } } });
  };
  const open: Readonly<Record<string, () => Transport>> = {
    "**Claude Desktop**": () => {
      const { mcpServers } = JSON.parse(block("**Claude Desktop**")) as {
        mcpServers: { toolplane: { command: string; args: string[]; env: Record<string, string> } };
      };
      return new StdioClientTransport({ ...mcpServers.toolplane, cwd: "/", stderr: "ignore" });
    },
    "**Visual Studio Code**": () => {
      const { servers } = JSON.parse(block("**Visual Studio Code**")) as {
        servers: { toolplane: { url: string; headers: { Authorization: string } } };
      };
      return overHttp(servers.toolplane.url, `Authorization: ${servers.toolplane.headers.Authorization}`);
    },
    "**Claude Code**": () => {
      const [, url = "", header = ""] =
        /^claude mcp add --transport http toolplane (\S+) --header "([^"]+)"$/m.exec(block("**Claude Code**")) ?? [];
      return overHttp(url, header);
    },
  };

  test.each(Object.keys(open))("%s", async (name) => {
    const client = new Client({ name: "reader", version: "1" }, { versionNegotiation: { mode: "auto" } });
    await client.connect((open[name] as () => Transport)());
    expect((await client.listTools()).tools.map((tool) => tool.name)).toContain("echo");
    await client.close();
  });
});
