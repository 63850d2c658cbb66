// The protocol's reference server through the bridge, and out again over MCP: its tools, its kinds of content, its progress.

import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { systemClock } from "@toolplane/engine";
import { type McpServers, NO_OFFSET, runMcpServers } from "@toolplane/server/internal";
import { afterAll, beforeAll, expect, test } from "vitest";
import { echo, type McpStack, startMcpStack } from "./mcp-stack.ts";

const PROGRAM = join(
  dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json")),
  "dist/index.js",
);

let stack: McpStack;
let servers: McpServers;
let client: Client;
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

beforeAll(async () => {
  stack = await startMcpStack([echo]);
  servers = await runMcpServers({
    settings: {
      mcpServers: [
        {
          name: "all",
          place: { command: ["node", PROGRAM, "stdio"], cwd: "/", env: [], ownUser: false },
          tools: ["*"],
          trustHints: true,
          prefix: undefined,
          timeoutSeconds: 60,
          elicitation: "refuse",
        },
      ],
      project: stack.http.t.projectId,
      egressAllow: [],
      envGrants: [],
    },
    engine: stack.http.t.engine,
    clock: systemClock,
    random: Math.random,
    log: silent,
    offset: NO_OFFSET,
    pid: process.pid,
    env: { PATH: process.env.PATH },
    guard: undefined,
  });
  await servers.tried;
  client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
  const headers = { authorization: `Bearer ${stack.http.admin}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(stack.url), { requestInit: { headers } }));
});
afterAll(async () => {
  await client?.close();
  await servers?.stop(0);
  await stack?.[Symbol.asyncDispose]();
});

const call = (name: string, args: Record<string, unknown> = {}, onprogress?: (said: unknown) => void) =>
  client.callTool({ name: `all__${name}`, arguments: args }, onprogress === undefined ? {} : { onprogress });

test("[API-MCP-1] its tools are listed and called as tools of the project", async () => {
  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["echo", "all__echo", "all__get-sum", "all__get-tiny-image"]));
  expect(await call("echo", { message: "hello" })).toMatchObject({ content: [{ type: "text", text: "Echo: hello" }] });
  expect(JSON.stringify((await call("get-sum", { a: 2, b: 3 })).content)).toContain("5");
  expect(await call("get-sum", { a: "two" })).toMatchObject({ isError: true });
});

test("its images, structures and links arrive as they left", async () => {
  const { content } = await call("get-tiny-image");
  expect(content.some((block) => block.type === "image" && block.mimeType === "image/png")).toBe(true);
  const weather = await call("get-structured-content", { location: "New York" });
  expect(weather.structuredContent).toMatchObject({ temperature: expect.any(Number) });
});

test("[API-MCP-6] the progress of its long operation reaches the client", async () => {
  const heard: unknown[] = [];
  const done = await call("trigger-long-running-operation", { duration: 1, steps: 2 }, (said) => heard.push(said));
  expect(JSON.stringify(done.content)).toContain("completed");
  expect(heard.at(-1)).toMatchObject({ progress: 2, total: 2 });
});
