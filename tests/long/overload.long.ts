// A plane that bends instead of breaking, over HTTP: five times as many callers as it has room for during a minute, ten thousand
// requests that wait, five times as many event readers as it takes, five hundred readers that do not read. The figures go to
// docs/records/limits.md. OVERLOAD_SECONDS makes it shorter.

import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { defineTool, serveTools, silentLog } from "@toolplane/sdk";
import { runTestProgram, startTestEngine, toolUpload, until } from "@toolplane/testkit";
import { Pool } from "undici";
import { expect, test } from "vitest";
import { backToNormal, megabytes, middle, say, tenOf, watchMemory } from "./limits/overload-figures.ts";

const FLOOD_MS = Number(process.env.OVERLOAD_SECONDS ?? "60") * 1_000;
/** Calls that may wait; with the service's slots they are the room of the plane. */
const QUEUE = 40;
const SLOTS = 8;
const CALLERS = 5 * (QUEUE + SLOTS);
const IDLE = 10_000;
const READERS = 500;
const PATIENCE_MS = 120_000;
/** What a server takes in all, and of one token. */
const READER_ROOM = 1_024;
const READERS_OF_TOKEN = 64;
const POOL = "pool_long";
const AGENT = "agent_long";

const openPlane = async () => {
  await using stack = new AsyncDisposableStack();
  const t = stack.use(await startTestEngine({ tools: [] }));
  await t.engine.tools.upsertTool("demo", toolUpload({ name: "work", options: { retry: "safe" } }));
  await t.engine.profiles.upsertProfile("demo", { name: "thinker", worker_target: POOL, allowed_tools: ["work"] });
  await t.engine.agents.upsertAgent("demo", { agent_id: AGENT, profile_name: "thinker" });
  const program = runTestProgram(new URL("limits/plane.ts", import.meta.url), [t.database.url, POOL]);
  const server = stack.use(program);
  const { port } = (await server.next()) as { port: number };
  const url = `http://127.0.0.1:${port}`;
  const tokenOf = async (role: "operator" | "tool") =>
    (
      await t.engine.tokens.create({
        role,
        projectId: "demo",
        ...(role === "tool" ? { targets: ["test", "idle"] } : {}),
      })
    ).secret;
  const work = defineTool({
    name: "work",
    description: "Takes a moment",
    parameters: { type: "object", properties: {} } as const,
    retry: "safe",
    run: () => delay(20, "done"),
  });
  const options = { url, token: await tokenOf("tool"), project: "demo", target: "test", concurrency: SLOTS };
  const serving = await serveTools([work], { ...options, handleSignals: false, log: silentLog });
  stack.defer(() => serving.stop());
  const pool = new Pool(url, { connections: CALLERS, pipelining: 1 });
  stack.defer(() => pool.destroy());
  const token = await tokenOf("operator");
  const call = async (): Promise<{ status: number; ms: number }> => {
    const began = performance.now();
    const { statusCode, body } = await pool.request({
      method: "POST",
      path: "/projects/demo/calls",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ tool_name: "work", arguments: {}, wait_seconds: 60 }),
    });
    await body.dump();
    return { status: statusCode, ms: performance.now() - began };
  };
  const latency = async (count = 40): Promise<number> => {
    const times: number[] = [];
    for (let one = 0; one < count; one++) times.push((await call()).ms);
    return Math.round(middle(times));
  };
  /** A turn of two steps with a call between them; the worker is in the server's process. */
  const turn = async (): Promise<number> => {
    const began = performance.now();
    const context = { instruction: "work once" };
    const { agentTurnId } = await t.engine.turns.spawn({
      projectId: "demo",
      agentId: AGENT,
      sourceAgentId: "sys.test",
      context,
    });
    const view = await t.engine.turns.wait({ projectId: "demo", agentTurnId }, PATIENCE_MS);
    expect(view?.status).toBe("success");
    return performance.now() - began;
  };
  const turnLatency = async (count = 40): Promise<number> => {
    const times: number[] = [];
    for (let one = 0; one < count; one++) times.push(await turn());
    return Math.round(middle(times));
  };
  const rest = stack.move();
  return {
    t,
    server,
    port,
    url,
    tokenOf,
    call,
    latency,
    turnLatency,
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
};

test("[LIM-long] a flood is refused, what was accepted settles, and the plane is itself again", async () => {
  await using plane = await openPlane();
  const { t, server, call, latency } = plane;
  await latency();
  const normal = await latency();
  await t.engine.projects.patchProject("demo", { limits: { queue: QUEUE } });
  const statuses = new Map<number, number>();
  const memory: number[] = [megabytes(server.pid)];
  const end = performance.now() + FLOOD_MS;
  const callers = Array.from({ length: CALLERS }, async () => {
    while (performance.now() < end) {
      const { status } = await call();
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 429) await delay(50);
    }
  });
  const healthy: number[] = [];
  while (performance.now() < end) {
    const began = performance.now();
    expect((await fetch(`${plane.url}/live`)).status).toBe(200);
    healthy.push(performance.now() - began);
    memory.push(megabytes(server.pid));
    await delay(1_000);
  }
  await Promise.all(callers);
  const { after, seconds } = await backToNormal(normal, () => latency(10));
  await until("every call to settle", async () => (await t.engine.depths()).calls.length === 0, PATIENCE_MS);
  say("flood", {
    callers: CALLERS,
    seconds: FLOOD_MS / 1_000,
    answers: JSON.stringify(Object.fromEntries(statuses)),
    "ms of a call before": normal,
    after,
    "back to normal after s": seconds,
    "memory MB": tenOf(memory),
    "longest /live ms": Math.round(Math.max(...healthy)),
  });
  expect([...statuses.keys()].sort()).toEqual([200, 429]);
  // V8 lets the heap grow for a while before it collects thoroughly, so only the second half says whether it goes on growing.
  const half = memory.length >> 1;
  expect(Math.max(...memory.slice(half))).toBeLessThan(1.2 * Math.max(...memory.slice(0, half)) + 50);
  expect(seconds).toBeLessThanOrEqual(10);
});

test("[LIM-long] ten thousand requests that wait, and a plane that works meanwhile", async () => {
  await using plane = await openPlane();
  const { server, latency } = plane;
  await latency();
  const before = { ms: await latency(), megabytes: megabytes(server.pid) };
  const tokens = await Promise.all(Array.from({ length: 5 }, () => plane.tokenOf("tool")));
  const gone = new AbortController();
  let refused = 0;
  const open = (n: number): void => {
    const asked = request(`${plane.url}/projects/demo/tool-services/idle/claim`, {
      method: "POST",
      agent: false,
      signal: gone.signal,
      headers: { authorization: `Bearer ${tokens[n % 5]}`, "content-type": "application/json" },
    });
    asked.on("response", ({ statusCode }) => {
      if (statusCode !== 200) refused += 1;
    });
    asked.on("error", () => {});
    asked.end(JSON.stringify({ wait_seconds: 60 }));
  };
  for (let n = 0; n < IDLE; n++) {
    open(n);
    if (n % 100 === 99) await delay(20);
  }
  await latency(20);
  const during = { ms: await latency(), megabytes: megabytes(server.pid) };
  const began = performance.now();
  expect((await fetch(`${plane.url}/live`)).status).toBe(200);
  const live = performance.now() - began;
  gone.abort();
  say("idle", {
    waiting: IDLE - refused,
    refused,
    "ms before": before.ms,
    "ms meanwhile": during.ms,
    "MB before": before.megabytes,
    "MB meanwhile": during.megabytes,
    "/live ms": Math.round(live),
  });
  expect(refused).toBe(0);
});

/** Reads a stream of events and forgets it, or is refused; resolves with the status when the stream ends. */
const readEvents = (url: string, token: string, isOver: AbortSignal): Promise<number> =>
  new Promise((resolve) => {
    const asked = request(`${url}/projects/demo/events`, {
      agent: false,
      signal: isOver,
      headers: { authorization: `Bearer ${token}` },
    });
    asked.on("response", (answer) => {
      answer.resume();
      answer.on("error", () => {});
      answer.on("close", () => resolve(answer.statusCode ?? 0));
    });
    asked.on("error", () => resolve(0));
    asked.end();
  });

test("[LIM-long] five times as many event readers as there is room for, while calls make events", async () => {
  await using plane = await openPlane();
  const { t, server, call, latency, url } = plane;
  await latency();
  const normal = await latency();
  const tokens = await Promise.all(
    Array.from({ length: (5 * READER_ROOM) / READERS_OF_TOKEN }, () => plane.tokenOf("operator")),
  );
  const over = new AbortController();
  const memory = watchMemory(server.pid, () => !over.signal.aborted);
  const refused = new Map<number, number>();
  const readers = tokens.flatMap((token) =>
    Array.from({ length: READERS_OF_TOKEN }, async () => {
      while (!over.signal.aborted) {
        const status = await readEvents(url, token, over.signal);
        if (status !== 429) continue;
        refused.set(status, (refused.get(status) ?? 0) + 1);
        await delay(5_000, undefined, { signal: over.signal }).catch(() => {});
      }
    }),
  );
  const statuses = new Map<number, number>();
  const callers = Array.from({ length: SLOTS }, async () => {
    while (!over.signal.aborted) {
      const { status } = await call();
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  });
  await delay(FLOOD_MS);
  over.abort();
  await Promise.all([...readers, ...callers]);
  const { after, seconds } = await backToNormal(normal, () => latency(10));
  const seen = await memory;
  const isIdle = async (): Promise<boolean> => (await t.engine.depths()).calls.length === 0;
  await until("every call to settle", isIdle, PATIENCE_MS);
  say("events", {
    readers: readers.length,
    seconds: FLOOD_MS / 1_000,
    "refused with 429": refused.get(429) ?? 0,
    "calls meanwhile": JSON.stringify(Object.fromEntries(statuses)),
    "ms of a call before": normal,
    after,
    "back to normal after s": seconds,
    "memory MB": tenOf(seen),
  });
  expect([...statuses.keys()]).toEqual([200]);
  expect(refused.get(429) ?? 0).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(10);
  expect(Math.max(...seen)).toBeLessThan(2 * (seen[Math.min(10, seen.length - 1)] ?? 0) + 100);
});

test("[LIM-long] five hundred event readers that do not read", async () => {
  await using plane = await openPlane();
  const { server, latency, turnLatency, port } = plane;
  await latency();
  await turnLatency(10);
  const before = { ms: await latency(200), turnMs: await turnLatency(), megabytes: megabytes(server.pid) };
  const tokens = await Promise.all(Array.from({ length: 10 }, () => plane.tokenOf("operator")));
  const sockets = await Promise.all(
    Array.from({ length: READERS }, async (_, n): Promise<Socket> => {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {});
      await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
      socket.write(
        `GET /projects/demo/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tokens[n % 10]}\r\n\r\n`,
      );
      socket.pause();
      return socket;
    }),
  );
  await latency(20);
  const during = { ms: await latency(200), turnMs: await turnLatency(), megabytes: megabytes(server.pid) };
  for (const socket of sockets) socket.destroy();
  await latency(20);
  const after = { ms: await latency(200), turnMs: await turnLatency() };
  // Other work on the machine changes all times: what it takes without readers is measured before and after.
  const alone = { ms: (before.ms + after.ms) / 2, turnMs: (before.turnMs + after.turnMs) / 2 };
  say("readers", {
    readers: READERS,
    "ms before": before.ms,
    "ms meanwhile": during.ms,
    "ms after": after.ms,
    ratio: (during.ms / alone.ms).toFixed(2),
    "ms of a turn before": before.turnMs,
    "of a turn meanwhile": during.turnMs,
    "of a turn after": after.turnMs,
    "ratio of turns": (during.turnMs / alone.turnMs).toFixed(2),
    "MB before": before.megabytes,
    "MB meanwhile": during.megabytes,
  });
  expect(during.megabytes).toBeLessThan(before.megabytes + 500);
});
