// Rolling out a tool, counted at the tool: two versions serve 200 queued calls that are pinned. Over HTTP with the TypeScript SDK, and
// with hosts. NATS and the Python file have tests of their own.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "@toolplane/engine";
import { defineTool, serveTools, silentLog } from "@toolplane/sdk";
import { listen, NO_OFFSET, readHostSettings, startHosts } from "@toolplane/server/internal";
import { startTestEngine, type TestEngine } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { PATIENT } from "../hosts/end-to-end-stack.ts";
import { startHttpStack } from "../http/http-stack.ts";
import { makePlace } from "../up/data.ts";

const HALF = 100;
const WAIT_MS = 100_000;
const EXPECTED = [...Array.from({ length: HALF }, () => "1 1"), ...Array.from({ length: HALF }, () => "2 2")];

const make = async ({ engine, projectId }: TestEngine, toolName: string, made: string): Promise<readonly string[]> => {
  const asked = { projectId, toolName, arguments: { made } };
  const calls = await Promise.all(Array.from({ length: HALF }, () => engine.calls.dispatch(asked)));
  return calls.map(({ toolCallId }) => toolCallId);
};

const statuses = async ({ engine, projectId }: TestEngine, ids: readonly string[]): Promise<readonly string[]> => {
  await Promise.all(ids.map((toolCallId) => engine.calls.wait({ projectId, toolCallId }, WAIT_MS)));
  const views = await Promise.all(ids.map((toolCallId) => engine.calls.get({ projectId, toolCallId })));
  return [...new Set(views.map(({ status }) => status))];
};

test("[ENG-pin-1] over HTTP two versions serve 200 pinned calls: each ran on its own code, none failed", {
  timeout: 120_000,
}, async () => {
  await using http = await startHttpStack({ tools: [] });
  const server = await listen({ app: http.app, host: "127.0.0.1", port: 0 });
  await using _server = { [Symbol.asyncDispose]: () => server.close(0) };
  const token = await http.toolToken(["rolled"]);
  const gate = Promise.withResolvers<void>();
  const runs: string[] = [];
  const serve = (which: string) => {
    const tool = defineTool({
      name: "rolled",
      description: `Says its version, which is ${which}`,
      parameters: { type: "object", properties: { made: { type: "string" } } } as const,
      retry: "safe",
      pin: "strict",
      run: async ({ made = "" }) => {
        await gate.promise;
        runs.push(`${made} ${which}`);
        return which;
      },
    });
    const address = { url: `http://${server.address}`, token, project: http.t.projectId };
    return serveTools([tool], { ...address, target: "rolled", concurrency: 16, handleSignals: false, log: silentLog });
  };
  await using _older = await serve("1");
  const first = await make(http.t, "rolled", "1");
  await using _newer = await serve("2");
  const all = [...first, ...(await make(http.t, "rolled", "2"))];
  gate.resolve();
  expect(await statuses(http.t, all)).toEqual(["success"]);
  expect(runs.sort()).toEqual(EXPECTED);
});

const HOST = `
const [which, log] = process.argv.slice(2);
const { appendFileSync } = await import("node:fs");
const { createInterface } = await import("node:readline");
const schema = { name: "rolled", description: "Version " + which, parameters: { type: "object", properties: { made: { type: "string" } } } };
const values = {
  init: () => ({}),
  get_tool_schemas: () => [schema],
  execute_tool: ({ arguments: { made } }) => {
    appendFileSync(log, made + " " + which + "\\n");
    return { success: true, result: which };
  },
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const said = values[method] === undefined
    ? { ok: false, error: { type: "MethodNotFound", detail: method } }
    : { ok: true, result: { value: values[method](params), state: {} } };
  process.stdout.write(JSON.stringify({ v: 1, id, ...said }) + "\\n");
}
`;

test("[ENG-pin-1] of hosts two versions serve 200 pinned calls: each ran on its own code, none failed", {
  timeout: 120_000,
}, async () => {
  await using place = await makePlace();
  await using t = await startTestEngine({ tools: [] });
  const { engine, projectId } = t;
  const [program, log] = [join(place.root, "host.mjs"), join(place.root, "runs")];
  writeFileSync(program, HOST);
  const start = async (which: string) => {
    const entry = { name: "roll", user: "inherit", command: ["node", program, which, log], pool: 1, limits: PATIENT };
    const settings = readHostSettings({
      config: { hosts: [entry] as never },
      where: () => "toolplane.yaml:1",
      directory: "/",
    });
    const means = { engine, clock: systemClock, random: Math.random, log: silentLog, offset: NO_OFFSET };
    const hosts = startHosts({ ...means, settings, projectId, pid: process.pid, env: process.env });
    await hosts.tried;
    return hosts;
  };
  const NAME = "roll__rolled";
  const older = await start("1");
  const own = await engine.tools.getTool(projectId, NAME);
  await engine.tools.upsertTool(projectId, {
    ...own?.definition,
    options: { ...own?.definition.options, pin: "strict" },
  });
  await engine.tools.pauseTool(projectId, NAME);
  const first = await make(t, NAME, "1");
  const newer = await start("2");
  const changed = await engine.tools.findTool(projectId, NAME);
  if (changed?.pending !== undefined) await engine.tools.acceptTool(projectId, NAME, changed.pending.version);
  const second = await make(t, NAME, "2");
  await engine.tools.resumeTool(projectId, NAME);
  expect(await statuses(t, [...first, ...second])).toEqual(["success"]);
  expect(readFileSync(log, "utf8").trim().split("\n").sort()).toEqual(EXPECTED);
  await Promise.all([older.stop(0), newer.stop(0)]);
});
