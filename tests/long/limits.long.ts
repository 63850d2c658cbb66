// Limits that hold: five in flight and twenty a second, in three service processes under a hundred callers, counted at the tool, while
// the services are killed ten times. Once over HTTP on the postgres bus, once over NATS. The counts go to docs/records/limits.md.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LeasedCall, silentLog } from "@toolplane/engine";
import { createApp, listen, routes } from "@toolplane/server/internal";
import {
  createChance,
  resultFor,
  runTestProgram,
  startTestEngine,
  type TestEngine,
  type TestProgram,
  toolUpload,
  until,
} from "@toolplane/testkit";
import { expect, test } from "vitest";
import { A_SEED } from "../crash/seed.ts";
import { openWorld } from "../sdk-nats/world.ts";

const KILLS = 10;
const CALLERS = 100;
const SERVICES = 3;
const LEASE_SECONDS = 2;
/** Runs of the tool with slots from one kill to the next. */
const PROGRESS = 60;
const PATIENCE_MS = 120_000;

interface Plane extends AsyncDisposable {
  readonly t: TestEngine;
  readonly url: string;
  readonly token: string;
}

const overHttp = async (): Promise<Plane> => {
  await using stack = new AsyncDisposableStack();
  const t = stack.use(await startTestEngine({ tools: [], watchdog: true, leaseSeconds: LEASE_SECONDS }));
  const app = createApp({
    engine: () => t.engine,
    routes,
    log: silentLog,
    health: async () => ({ ok: true, body: { status: "ok" } }),
    hosts: [],
    draining: new AbortController().signal,
  });
  const server = await listen({ app, host: "127.0.0.1", port: 0 });
  stack.defer(() => server.close(0));
  const { secret } = await t.engine.tokens.create({ role: "tool", projectId: "demo", targets: ["counted"] });
  const rest = stack.move();
  return { t, url: `http://${server.address}`, token: secret, [Symbol.asyncDispose]: () => rest.disposeAsync() };
};

const overNats = async (): Promise<Plane> => {
  const world = await openWorld({ leaseSeconds: LEASE_SECONDS });
  return { t: world.test, url: world.nats.url, token: "", [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
};

interface Line {
  readonly what: "begin" | "end";
  readonly name: string;
  readonly pid: number;
  readonly at: number;
}

const readLines = (path: string): readonly Line[] =>
  readFileSync(path, { encoding: "utf8", flag: "a+" })
    .split("\n")
    .filter((line) => line.endsWith("}"))
    .map((line) => JSON.parse(line) as Line);

/** The most runs at once; the runs of a killed process end with it. */
const mostAtOnce = (lines: readonly Line[], killed: ReadonlyMap<number, number>, from = 0): number => {
  const changes = lines.flatMap(({ what, pid, at }) => [{ pid, at, by: what === "begin" ? 1 : -1 }]);
  const running = new Map<number, number>();
  let most = 0;
  const dead = [...killed].map(([pid, at]) => ({ pid, at, by: 0 }));
  // An end and a begin of one millisecond: the slot was free before.
  for (const { pid, at, by } of [...changes, ...dead].sort((a, b) => a.at - b.at || a.by - b.by)) {
    if (by === 0) running.delete(pid);
    else running.set(pid, (running.get(pid) ?? 0) + by);
    if (at >= from)
      most = Math.max(
        most,
        [...running.values()].reduce((sum, count) => sum + count, 0),
      );
  }
  return most;
};

const mostInASecond = (times: readonly number[]): number =>
  times.reduce((most, from, index) => {
    const end = times.findIndex((at) => at >= from + 1_000);
    return Math.max(most, (end === -1 ? times.length : end) - index);
  }, 0);

test.each([
  ["HTTP, postgres bus", overHttp],
  ["NATS", overNats],
])("[LIM-long] five at once and twenty a second hold over %s while services are killed", async (name, open) => {
  const began = Date.now();
  const chance = createChance(A_SEED);
  await using plane = await open();
  const { engine, projectId } = plane.t;
  const place = mkdtempSync(join(tmpdir(), "toolplane-limits-"));
  const path = join(place, "runs.ndjson");
  const start = async (): Promise<TestProgram> => {
    const service = runTestProgram(new URL("limits/service.ts", import.meta.url), [plane.url, plane.token, path]);
    await service.next();
    return service;
  };
  const services = await Promise.all(Array.from({ length: SERVICES }, start));
  const killed = new Map<number, number>();
  const over = new AbortController();
  const ends = new Map<string, number>();
  const caller = async (n: number): Promise<void> => {
    while (!over.signal.aborted) {
      const toolName = n % 4 === 0 ? "twenty" : "five";
      const answer = await engine.calls.call(
        { projectId, toolName, arguments: {}, agentId: `sys.caller${n}` },
        PATIENCE_MS,
      );
      ends.set(answer.status, (ends.get(answer.status) ?? 0) + 1);
    }
  };
  const callers = Array.from({ length: CALLERS }, (_, n) => caller(n));
  const runs = (): number => readLines(path).filter((line) => line.name === "five" && line.what === "end").length;
  for (let kill = 0; kill < KILLS; kill++) {
    const before = runs();
    await until(`progress before kill ${kill}`, () => runs() >= before + PROGRESS, PATIENCE_MS);
    const victim = chance.between(0, SERVICES - 1);
    const service = services[victim] as TestProgram;
    const { pid } = service;
    await service.kill();
    killed.set(pid, Date.now());
    services[victim] = await start();
  }
  const lastKill = Math.max(...killed.values());
  const before = runs();
  await until("progress after the last kill", () => runs() >= before + 3 * PROGRESS, PATIENCE_MS);
  over.abort();
  await Promise.all(callers);
  await Promise.all(services.map((service) => service.kill()));
  const lines = readLines(path);
  rmSync(place, { recursive: true });
  const five = lines.filter((line) => line.name === "five");
  const starts = lines
    .filter((line) => line.name === "twenty" && line.what === "begin")
    .map(({ at }) => at)
    .sort((a, b) => a - b);
  const seconds = ((starts.at(-1) ?? 0) - (starts[0] ?? 0)) / 1_000;
  const figures = {
    most: mostAtOnce(five, killed),
    mostAfterKills: mostAtOnce(five, killed, lastKill + LEASE_SECONDS * 1_000),
    inASecond: mostInASecond(starts),
    perSecond: starts.length / seconds,
    ends: Object.fromEntries(ends),
  };
  const count = (what: string): number => five.filter((line) => line.what === what).length;
  process.stdout.write(
    `| ${name} | ${count("begin")} | ${count("end")} | ${killed.size} | ${figures.most} | ${figures.mostAfterKills} | ${starts.length} | ${figures.perSecond.toFixed(1)} | ${figures.inASecond} | ${JSON.stringify(figures.ends)} | ${Math.round((Date.now() - began) / 1_000)} |\n`,
  );
  expect(figures.most).toBeLessThanOrEqual(5);
  // No slot was lost with its holder.
  expect(figures.mostAfterKills).toBe(5);
  expect(Object.keys(figures.ends)).toEqual(["success"]);
  // The start at the tool is a moment later than the lease; the sum shows the rate.
  expect(starts.length).toBeLessThanOrEqual(20 * seconds + 2);
  expect(figures.inASecond).toBeLessThanOrEqual(25);
});

test.each([
  ["unlimited", {}],
  ["one at a time", { concurrency: 1 }],
])("[LIM-long] the one call of an agent behind a thousand of another: %s", async (name, options) => {
  await using t = await startTestEngine({ tools: [] });
  const { engine, projectId } = t;
  await engine.tools.upsertTool(projectId, toolUpload({ name: "busy", options: options as Record<string, unknown> }));
  const ask = (agentId: string) => engine.calls.dispatch({ projectId, toolName: "busy", arguments: {}, agentId });
  await Promise.all(Array.from({ length: 1_000 }, () => ask("sys.many")));
  const order: string[] = [];
  /** One service that runs one call after the other; the second agent asks while it runs the third. */
  while (!order.includes("sys.one") && order.length < 1_001) {
    const [call] = await engine.calls.claim({ projectId, target: "test", holder: "h", max: 1 });
    if (order.length === 2) await ask("sys.one");
    order.push(call?.facts.agentId ?? "none");
    await engine.calls.settle(resultFor(call as LeasedCall));
  }
  process.stdout.write(`| ${name} | 1,000 before it | it was run after ${order.length - 3} further call(s) |\n`);
  // It came while one ran: at most one more goes before it.
  expect(order.length - 3).toBeLessThanOrEqual(2);
});
