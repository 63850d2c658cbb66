// The life of configured hosts against a real engine: what is registered, what is left out, what is tried again.

import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "@toolplane/engine";
import { type Log, silentLog } from "@toolplane/sdk";
import { listHosts, NO_OFFSET, readHostSettings, startHosts, type ToolHosts } from "@toolplane/server/internal";
import { startTestEngine, type TestEngine, toolUpload, until } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { makePlace } from "../up/data.ts";
import { PATIENT } from "./end-to-end-stack.ts";

const ECHO_HOST = ["node", fileURLToPath(new URL("./check-programs/wrong-host.mjs", import.meta.url))];
const PATIENCE_MS = 60_000;

/** The checkout may lie where another user cannot enter. */
const settingsOf = (hosts: readonly object[]) =>
  readHostSettings({
    config: { hosts: hosts.map((entry) => ({ user: "inherit", ...entry })) as never },
    where: () => "toolplane.yaml:1",
    directory: "/",
  });

interface World extends AsyncDisposable {
  readonly t: TestEngine;
  readonly hosts: ToolHosts;
  names(): Promise<readonly string[]>;
}

const openWorld = async (
  entries: readonly object[],
  prepare: (t: TestEngine) => Promise<unknown> = async () => undefined,
  log: Log = silentLog,
  waits = true,
): Promise<World> => {
  const t = await startTestEngine({ tools: [] });
  await prepare(t);
  const hosts = startHosts({
    settings: settingsOf(entries),
    projectId: t.projectId,
    engine: t.engine,
    clock: systemClock,
    random: Math.random,
    log,
    offset: NO_OFFSET,
    pid: process.pid,
    env: process.env,
  });
  if (waits) await hosts.tried;
  return {
    t,
    hosts,
    names: async () => (await t.engine.tools.listTools(t.projectId)).items.map(({ toolName }) => toolName),
    async [Symbol.asyncDispose]() {
      await hosts.stop(0);
      await t[Symbol.asyncDispose]();
    },
  };
};

test("[HOST-4-T6] a tool its host no longer has is deleted; those of other hosts and of people stay", async () => {
  await using world = await openWorld(
    [{ name: "text", command: ECHO_HOST, limits: PATIENT }],
    async ({ engine, projectId }) => {
      const old = (name: string, target: string) => toolUpload({ name, target });
      await engine.tools.upsertTool(projectId, old("text__gone", "host_text"), { source: "host:text" });
      await engine.tools.upsertTool(projectId, old("other__kept", "host_other"), { source: "host:other" });
      await engine.tools.upsertTool(projectId, old("text__by_hand", "host_text"));
    },
  );
  expect([...(await world.names())].sort()).toEqual(["other__kept", "text__by_hand", "text__echo"]);
});

test("[HOST-4-T6] a name that belongs to somebody else is left out, and said", async () => {
  await using world = await openWorld(
    [{ name: "text", command: ECHO_HOST, limits: PATIENT }],
    ({ engine, projectId }) =>
      engine.tools.upsertTool(projectId, toolUpload({ name: "text__echo", target: "mine" }), {
        source: "service:mine",
      }),
  );
  const [view] = world.hosts.list(world.t.projectId);
  expect(view).toMatchObject({ phase: "ready", tools: [], refused: [{ name: "echo" }] });
  expect(view?.refused[0]?.reason).toContain("service:mine");
  expect(world.hosts.list("another")).toEqual([]);
});

test("[HOST-4-T6] a host whose program comes later is ready then, and why says so until then", async () => {
  await using place = await makePlace();
  const program = join(place.root, "late-host");
  await using world = await openWorld([{ name: "late", command: [program], limits: PATIENT }]);
  expect(world.hosts.problemOf(world.t.projectId, "host_late")?.why).toContain("host late does not run: there is no");
  expect(world.hosts.problemOf(world.t.projectId, "host_other")).toBeUndefined();
  expect(await world.names()).toEqual([]);
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${ECHO_HOST[1]}"\n`);
  chmodSync(program, 0o755);
  await until("the host to be ready", () => world.hosts.list(world.t.projectId)[0]?.phase === "ready", PATIENCE_MS);
  expect(world.hosts.problemOf(world.t.projectId, "host_late")).toBeUndefined();
  expect(await world.names()).toEqual(["late__echo"]);
  const view = await world.t.engine.calls.call(
    { projectId: world.t.projectId, toolName: "late__echo", arguments: { text: "x" } },
    PATIENCE_MS,
  );
  expect(view.status).toBe("success");
});

test("[API-4-H4] a host that speaks late is starting until then, and its tools come with its words", async () => {
  await using place = await makePlace();
  const permission = join(place.root, "speak");
  const script = `while [ ! -e "${permission}" ]; do sleep 0.05; done; exec "${process.execPath}" "${ECHO_HOST[1]}"`;
  const late = { name: "late", command: ["sh", "-c", script], limits: PATIENT };
  await using world = await openWorld([late], undefined, undefined, false);
  const [projectId, { hosts }] = [world.t.projectId, world];
  expect(hosts.list(projectId)[0]).toMatchObject({ phase: "starting", problem: undefined, tools: [] });
  expect(hosts.problemOf(projectId, "host_late")?.why).toContain("host late is starting");
  writeFileSync(permission, "");
  await hosts.tried;
  expect(hosts.list(projectId)[0]).toMatchObject({ phase: "ready", problem: undefined, tools: ["late__echo"] });
  expect(await world.names()).toEqual(["late__echo"]);
});

test("[HOST-4-T6] a host that ends at once is logged with what it said", async () => {
  const errors: unknown[] = [];
  const warnings: string[] = [];
  const log: Log = {
    ...silentLog,
    error: (_message, fields) => errors.push(fields),
    warn: (message) => warnings.push(message),
  };
  const command = ["sh", "-c", "echo the module is broken >&2; exit 1"];
  await using world = await openWorld([{ name: "broken", command, limits: PATIENT }], undefined, log);
  expect(warnings).toContain("host broken: its process ended with code 1");
  expect(world.hosts.list(world.t.projectId)[0]?.phase).not.toBe("ready");
  expect(errors[0]).toMatchObject({ host: "broken", last_stderr: expect.arrayContaining(["the module is broken"]) });
});

test("[API-4-H1] without the role tools the hosts are listed as run elsewhere", () => {
  const hosts = listHosts(settingsOf([{ name: "text", command: ["x"] }]), "demo");
  expect(hosts.list("demo").map(({ setting, phase }) => [setting.name, phase])).toEqual([["text", "elsewhere"]]);
  expect(hosts.problemOf("demo", "host_text")).toBeUndefined();
});
