// MCP over a server that is killed: a call of three minutes with progress runs once, and every way to ask for it finds it again.

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineTool, serveTools, silentLog } from "@toolplane/sdk";
import { until } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { startProgram } from "../cli/program.ts";
import { TOOLPLANE } from "../cli/stack.ts";
import { bundleClient } from "../mcp/bundle-client.ts";
import { clientScenarios, compareWith, runClientScenarios } from "../mcp/conformance-suite.ts";
import { CLIENT_FAILURES } from "../mcp/expected-failures.ts";
import { runOneKey } from "../mcp/one-key.ts";
import { rpcTo } from "../mcp/rpc.ts";
import { connectStdio } from "../mcp/stdio-client.ts";
import { makeUsedPlace } from "../up/data.ts";

const SECONDS = 180;

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
  const ask = rpcTo({ url: `${url}/mcp/demo`, token });
  const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
  const rpc = async (method: string, params: Record<string, unknown>) =>
    (await ask(method, params, { capabilities })).result ?? {};
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

test("[API-MCP-5] one key at once over HTTP and MCP while its command is delivered three times, a hundred rounds", async () => {
  const report = await runOneKey(100);
  process.stderr.write(`${JSON.stringify(report)}\n`);
  expect(report).toMatchObject({ rounds: 100, runs: 100, resultCards: 100 });
});

test.each(["2025-11-25", "2026-07-28"])("every scenario of the protocol's suite for clients, %s", async (revision) => {
  using client = await bundleClient();
  const scenarios = clientScenarios(revision);
  const run = await runClientScenarios(client.command, revision, scenarios);
  const lines = [...run.scenarios].map(([name, failures]) => `${failures.length === 0 ? "pass" : "fail"} ${name}`);
  process.stderr.write(`${revision}\n${lines.toSorted().join("\n")}\n`);
  // A client without OAuth ends before some scenarios about it write a result.
  const silent = scenarios.filter((name) => !run.scenarios.has(name) && !name.startsWith("auth/"));
  expect(silent, run.said).toEqual([]);
  expect(compareWith(CLIENT_FAILURES[revision] ?? {}, run)).toEqual({ surprises: [], stale: [] });
});
