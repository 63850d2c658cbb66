// The four roles as four processes, over PostgreSQL alone and with NATS beside it: everything a single process does.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { until } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { BUSES, openPlane, type Plane } from "./plane.ts";
import { PATIENCE_MS, type UpProcess } from "./up-process.ts";

// Several starts of whole processes, on a machine that may be busy with other tests.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const HOST = fileURLToPath(new URL("../hosts/child-plugin.ts", import.meta.url));
const HOST_PROGRAM = fileURLToPath(new URL("../../bin/toolplane-host.mjs", import.meta.url));

describe.each(BUSES)("four processes over %s", (bus) => {
  let plane: Plane;
  let api: UpProcess;
  let tools: UpProcess;
  let worker: UpProcess;
  let pmo: UpProcess;

  const post = async (path: string, body: unknown) => (await api.request("POST", `/projects/demo${path}`, body)).body;
  const get = async (path: string) => (await api.request("GET", `/projects/demo${path}`)).body;
  const callEcho = (wait: number) =>
    post("/calls", { tool_name: "echo", arguments: { text: "hello" }, wait_seconds: wait });

  beforeAll(async () => {
    plane = await openPlane(bus, { empty: true });
    const config = join(plane.root, "toolplane.yaml");
    writeFileSync(config, `hosts:\n  - { name: text, user: inherit, command: [node, ${HOST_PROGRAM}, ${HOST}] }\n`);
    // All at the same moment, over an empty database, with one data directory.
    [api, worker, pmo, tools] = ["api", "worker", "pmo", "tools"].map((roles) =>
      plane.up(roles, "--demo", "--config", config),
    ) as [UpProcess, UpProcess, UpProcess, UpProcess];
    await Promise.all([api, worker, pmo, tools].map((up) => up.ready()));
    await tools.said("a host is ready");
  });
  afterAll(async () => {
    await plane[Symbol.asyncDispose]();
  });

  test("[UP-9-4] start together: one demo, one token, each with its own health", async () => {
    const health = async (up: UpProcess) => (await (await fetch(`${await up.ready()}/health`)).json()) as object;
    expect(await health(tools)).toMatchObject({ status: "ok", store: "postgres", bus, roles: ["tools"] });
    expect(await health(api)).toMatchObject({ status: "ok", bus, roles: ["api"] });
    expect((await api.request("GET", "/projects")).body.items).toHaveLength(1);
    expect((await worker.request("GET", "/projects")).status).toBe(404);
  });

  test("[UP-9-4] a call and a turn go through all of them", async () => {
    expect(await callEcho(30)).toMatchObject({ status: "success", result: { text: "hello" } });
    const { agent_turn_id: id } = await post("/agents/helper/turns", { instruction: "a team, please" });
    expect(await get(`/turns/${id}?wait_seconds=60`)).toMatchObject({
      status: "success",
      deliverable: "Two readers say: 3 words, and 6 words.",
    });
  });

  test("[UP-9-4] hosts run where the tools are; the API knows them as elsewhere", async () => {
    const { items } = await get("/hosts");
    const todo = expect.stringContaining(`see the log of process ${tools.pid} on `);
    expect(items).toMatchObject([{ name: "text", state: "elsewhere", todo }]);
    const said = await post("/calls", { tool_name: "text__echo", arguments: { text: "hi" }, wait_seconds: 30 });
    expect(said).toMatchObject({ status: "success" });
  });

  test("[UP-9-7] why says which process runs a call, and which role is missing", async () => {
    const { tool_call_id: slow } = await post("/calls", { tool_name: "sleep", arguments: { seconds: 1 } });
    await until("it runs", async () => (await get(`/calls/${slow}`)).status === "running", PATIENCE_MS);
    expect((await get(`/calls/${slow}/why`)).why).toContain(`bundled tools (process ${tools.pid} on `);
    expect(await Promise.all([tools.stop(), worker.stop()])).toEqual([0, 0]);

    const { tool_call_id: id } = await callEcho(0);
    const { agent_turn_id: turn } = await post("/agents/helper/turns", { instruction: "one two" });
    expect(await get(`/calls/${id}/why`)).toMatchObject({
      why: expect.stringContaining("no process has the role tools, which serves the bundled tools and the hosts"),
      todo: expect.stringContaining("toolplane up --roles tools"),
    });
    await until(
      "it waits for a worker",
      async () => (await get(`/turns/${turn}`)).status === "dispatched",
      PATIENCE_MS,
    );
    expect(await get(`/turns/${turn}`)).toMatchObject({
      why: expect.stringContaining("no process has the role worker"),
    });

    await plane.up("worker,tools").ready();
    expect(await get(`/calls/${id}?wait_seconds=60`)).toMatchObject({ status: "success" });
    expect(await get(`/turns/${turn}?wait_seconds=60`)).toMatchObject({ status: "success" });
  });

  if (bus === "nats")
    test("[UP-9-3] NATS goes away and comes back: calls go on, and health says so", async () => {
      const health = async () => (await api.request("GET", "/health")).body.bus_connected;
      await plane.nats?.kill();
      await until("it is missed", async () => (await health()) === false, PATIENCE_MS);
      expect((await api.request("GET", "/health")).status).toBe(200);
      expect(await callEcho(30)).toMatchObject({ status: "success" });
      await plane.nats?.wipe();
      await until("it is back", async () => (await health()) === true, PATIENCE_MS);
      const { agent_turn_id: id } = await post("/agents/helper/turns", { instruction: "a team again" });
      expect(await get(`/turns/${id}?wait_seconds=60`)).toMatchObject({ status: "success" });
      const said = (text: string): number => api.stderr().split(text).length - 1;
      // Once for its own connection, and once for that of the gateway.
      expect([said("the connection to NATS is lost"), said("connected to NATS again")]).toEqual([2, 2]);
      expect(api.stderr()).not.toContain(plane.databaseUrl);
    });

  test("[UP-9-4] SIGTERM drains each of them", async () => {
    expect(await Promise.all([api.stop(), pmo.stop()])).toEqual([0, 0]);
  });
});
