// MCP over a server that is killed: a call of three minutes with progress runs once, and every way to ask for it finds it again.

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { defineTool, serveTools, silentLog } from "@toolplane/sdk";
import { until } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { startProgram } from "../cli/program.ts";
import { TOOLPLANE } from "../cli/stack.ts";
import { echo, startMcpStack } from "../mcp/mcp-stack.ts";
import { connectStdio } from "../mcp/stdio-client.ts";
import { makeUsedPlace } from "../up/data.ts";

const SECONDS = 180;
const KEY = "toolplane/idempotency_key";

test("a call of three minutes survives a SIGKILL of the server, as a task and over stdio, and runs once", async () => {
  await using place = await makeUsedPlace();
  const up = async (port: string) => {
    const argv = [...TOOLPLANE, "up", "--port", port, "--demo", "--data", place.dataDir];
    const program = await startProgram(argv, { cwd: place.root });
    const url = await program.until("ready", (out) => out.match(/^ready (http:\/\/\S+)$/m)?.[1]);
    return { program, url };
  };
  const first = await up("0");
  const { url } = first;
  const token = readFileSync(`${place.dataDir}/token`, "utf8").trim();
  let runs = 0;
  const slow = defineTool({
    name: "slow",
    description: "Takes three minutes",
    parameters: { type: "object", properties: { name: { type: "string" } } } as const,
    timeoutSeconds: SECONDS * 2,
    run: async ({ name }, { signal, emit }) => {
      runs += 1;
      for (let second = 1; second <= SECONDS; second++) {
        await sleep(1_000, undefined, { signal });
        emit({ progress: second, total: SECONDS });
      }
      return `done ${String(name)}`;
    },
  });
  await using _serving = await serveTools([slow], {
    url,
    token,
    project: "demo",
    target: "slow",
    handleSignals: false,
    log: silentLog,
  });
  await using stdio = await connectStdio("legacy", { url, token });
  const heard: number[] = [];
  const overStdio = stdio.client.callTool(
    { name: "slow", arguments: { name: "stdio" } },
    { timeout: 900_000, onprogress: ({ progress }) => heard.push(progress) },
  );
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } },
  };
  const rpc = async (method: string, params: Record<string, unknown>) => {
    const response = await fetch(`${url}/mcp/demo`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        "mcp-name": String(params.name ?? params.taskId),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } }),
    });
    return ((await response.json()) as { result: Record<string, unknown> }).result;
  };
  const { taskId } = await rpc("tools/call", { name: "slow", arguments: { name: "task" } });
  await until("progress is heard", () => heard.length > 5);
  first.program.signal("SIGKILL");
  await first.program.ended;
  const before = heard.length;
  const second = await up(new URL(url).port);
  await until("progress is heard again", () => heard.length > before + 5);
  expect(await overStdio).toMatchObject({ content: [{ text: "done stdio" }] });
  await until("the task is done", async () => (await rpc("tasks/get", { taskId })).status === "completed");
  expect((await rpc("tasks/get", { taskId })).result).toMatchObject({ content: [{ text: "done task" }] });
  expect(runs).toBe(2);
  await stdio.client.close();
  second.program.signal("SIGTERM");
  await second.program.ended;
});

test("[API-MCP-5] the same key at once over HTTP and MCP, a hundred times: one run and one result card each", async () => {
  const counts = new Map<string, number>();
  const count = defineTool({
    name: "count",
    description: "Counts its runs",
    parameters: { type: "object", properties: { round: { type: "string" } }, required: ["round"] } as const,
    run: ({ round }) => {
      counts.set(round, (counts.get(round) ?? 0) + 1);
      return round;
    },
  });
  await using stack = await startMcpStack([echo, count]);
  const requestInit = { headers: { authorization: `Bearer ${stack.http.admin}` } };
  const clients = await Promise.all(
    (["auto", "legacy"] as const).map(async (mode) => {
      const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
      await client.connect(new StreamableHTTPClientTransport(new URL(stack.url), { requestInit }));
      return client;
    }),
  );
  for (let round = 0; round < 100; round++) {
    const key = `round-${round}`;
    const args = { round: key };
    const ask = { tool_name: "count", arguments: args, idempotency_key: key, wait_seconds: 30 };
    const [http, again, ...mcp] = await Promise.all([
      stack.http.send("POST", "/projects/demo/calls", ask),
      stack.http.send("POST", "/projects/demo/calls", ask),
      ...clients.map((client) => client.callTool({ name: "count", arguments: args, _meta: { [KEY]: key } })),
    ]);
    const cards = [
      http.body.tool_result_card_id,
      again.body.tool_result_card_id,
      ...mcp.map(({ _meta }) => _meta?.["toolplane/tool_result_card_id"]),
    ];
    expect(new Set(cards)).toEqual(new Set([http.body.tool_result_card_id]));
    expect(counts.get(key)).toBe(1);
  }
  await Promise.all(clients.map((client) => client.close()));
});
