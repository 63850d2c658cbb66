// Services that wait for calls at the gateway on NATS, by the bytes of their questions and by the sdk.
// Doors: NATS

import { openNatsLink } from "@toolplane/bus/nats";
import { silentLog } from "@toolplane/engine";
import { HEADERS } from "@toolplane/protocol";
import { defineTool } from "@toolplane/sdk";
import { createNatsGateway } from "@toolplane/server/internal";
import { toolUpload } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectWire, type WireClient, type WireMessage } from "../gateway/wire-client.ts";
import { openWorld, type World } from "./world.ts";

const MAX_PAYLOAD = 64 * 1024;
const LARGE = "x".repeat(40_000);

let world: World;
let raw: WireClient;
beforeAll(async () => {
  world = await openWorld({ nats: { config: `max_payload: ${MAX_PAYLOAD}` } });
  raw = await connectWire({ port: Number(new URL(world.nats.url).port) });
});
afterAll(async () => {
  await raw[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const addTool = (target: string, retry: "safe" | "never", name = target) =>
  world.engine.tools.upsertTool("demo", toolUpload({ name, target, options: { retry } }));

const echo = (name: string, runs: string[] = []) =>
  defineTool({
    name,
    description: "Says that it ran",
    parameters: { type: "object", properties: { text: { type: "string" } } } as const,
    retry: "safe",
    run: async (_args, { call }) => {
      runs.push(call.toolCallId);
      return { ok: true };
    },
  });

const gatewayOf = (target: string): string => `cg.v1r4.demo.public.rpc.gateway.${target}.exchange`;

interface Command {
  readonly headers: Readonly<Record<string, string>>;
  readonly lease: { readonly id: string; readonly expires_at: string };
  readonly card?: { readonly card_id: string };
}

const readWork = ({ payload }: WireMessage) =>
  JSON.parse(payload) as {
    readonly commands?: readonly Command[];
    readonly error?: { readonly code: string; readonly message: string };
  };

const askForWork = async (target: string, body: object) =>
  readWork(await raw.request(gatewayOf(target), JSON.stringify(body)));

/** A service asks for work and waits at the plane. */
const isWaiting = (target: string) => () => world.engine.calls.services("demo", target).length;

const callView = (toolCallId: string) => world.engine.calls.get({ projectId: "demo", toolCallId });
const leasesOf = async (toolCallId: string) => world.engine.calls.leases(await callView(toolCallId));

test("[NATS-line-1] a call that is made while a service waits comes with the answer, leased, and no command leaves", async () => {
  const runs: string[] = [];
  const commands = raw.subscribe("cg.v1r4.demo.*.cmd.tool.meet.>");
  await raw.flush();
  await using _serving = await world.serve([echo("meet", runs)], { target: "meet" });
  await expect.poll(isWaiting("meet")).toBe(1);
  const views = [await world.call("meet"), await world.call("meet"), await world.call("meet")];
  expect(views.map(({ status, attempts, publishes }) => [status, attempts, publishes])).toEqual(
    views.map(() => ["success", 1, 0]),
  );
  expect(runs).toEqual(views.map(({ toolCallId }) => toolCallId));
  // Its target has a durable like every other that is served on NATS, and nothing in it.
  expect(await world.waitingCommands("meet")).toBe(0);
  await raw.flush();
  expect(commands).toEqual([]);
});

test("[NATS-line-1] the lease of such a call is short, and its card comes with it", async () => {
  await addTool("short", "safe");
  const asking = askForWork("short", { max: 2, wait_seconds: 60, holder: "by hand" });
  await expect.poll(isWaiting("short")).toBe(1);
  const toolCallId = await world.dispatch("short");
  const [command, ...others] = (await asking).commands ?? [];
  expect(others).toEqual([]);
  const { leaseHolder, leaseId, callCardId } = await callView(toolCallId);
  expect([command?.headers[HEADERS.toolCallId], command?.lease.id, command?.card?.card_id, leaseHolder]).toEqual([
    toolCallId,
    leaseId,
    callCardId,
    "by hand",
  ]);
  const lasts = Date.parse(command?.lease.expires_at ?? "") - (await world.engine.databaseNow());
  expect(lasts).toBeLessThanOrEqual(5_000);
});

test("[NATS-line-1] a call that is handed over is due when its lease ends, not when its command would be missed", async () => {
  await addTool("due", "safe");
  const asking = askForWork("due", { max: 1, wait_seconds: 60 });
  await expect.poll(isWaiting("due")).toBe(1);
  const toolCallId = await world.dispatch("due");
  await asking;
  const [row] = await world.engine.db.query<{ early: boolean }>(
    {
      name: "test_due_at",
      text: "select due_at < lease_expires_at as early from state.live_calls where tool_call_id = $1",
    },
    [toolCallId],
  );
  expect(row).toEqual({ early: false });
});

test("[NATS-line-7] a service that leaves is answered at once, and a call that is made then goes to the queue", async () => {
  await addTool("leaving", "safe");
  const asking = askForWork("leaving", { max: 1, wait_seconds: 60, holder: "me" });
  const other = askForWork("leaving", { max: 1, wait_seconds: 60, holder: "another" });
  await expect.poll(isWaiting("leaving")).toBe(2);
  expect((await askForWork("leaving", { leaves: true, holder: "me" })).commands).toEqual([]);
  expect((await asking).commands).toEqual([]);
  const toolCallId = await world.dispatch("leaving");
  expect((await other).commands?.map(({ headers }) => headers[HEADERS.toolCallId])).toEqual([toolCallId]);
});

test("[NATS-line-2] calls of tools that may not run twice are not handed out this way, and none of them counts as started", async () => {
  await addTool("once", "never");
  const asking = askForWork("once", { max: 8, wait_seconds: 60 });
  await expect.poll(isWaiting("once")).toBe(1);
  const toolCallId = await world.dispatch("once");
  expect((await asking).error).toMatchObject({
    code: "bad_request",
    message: expect.stringContaining("fetch their commands"),
  });
  await expect.poll(() => callView(toolCallId)).toMatchObject({ status: "queued", attempts: 0 });
  // A service of the sdk fetches for such a tool.
  const tool = defineTool({
    name: "once",
    description: "Runs once",
    parameters: { type: "object", properties: {} } as const,
    run: async () => "ran",
  });
  await using _serving = await world.serve([tool], { target: "once" });
  expect(await world.resultOf(await world.until(toolCallId, "success"))).toBe("ran");
});

test.each([
  ["alone", {}],
  ["of-session", { session: "agent" }],
  ["limited", { concurrency: 2 }],
])(
  "[NATS-line-2] a call that may not run twice (%s) is never leased to a service that waits, and safe calls pass it",
  async (name, more) => {
    const upload = (tool: string, retry: "safe" | "never") =>
      world.engine.tools.upsertTool("demo", toolUpload({ name: tool, target: name, options: { retry, ...more } }));
    await upload(`${name}-once`, "never");
    await upload(`${name}-safe`, "safe");
    const once = await world.dispatch(`${name}-once`);
    for (let asked = 0; asked < 5; asked++)
      expect((await askForWork(name, { max: 8, wait_seconds: 60 })).error).toMatchObject({ code: "bad_request" });
    const safe = !("session" in more)
      ? [await world.dispatch(`${name}-safe`), await world.dispatch(`${name}-safe`)]
      : [];
    for (const toolCallId of safe) {
      const { commands } = await askForWork(name, { max: 1, wait_seconds: 60 });
      expect(commands?.map(({ headers }) => headers[HEADERS.toolCallId])).toEqual([toolCallId]);
    }
    const phases: string[] = [];
    for (const { subject, payload } of await world.engine.events.read("demo", "0-0", 1_000)) {
      const told = JSON.parse(payload) as { readonly tool_call_id?: string; readonly phase?: string };
      if (subject.endsWith(".call") && told.tool_call_id === once) phases.push(told.phase ?? "");
    }
    expect(phases).toEqual(["dispatched"]);
  },
);

test("[SEE-14] a service that fetches its commands is listed before its first call, and is not taken for one that waits", async () => {
  const tool = defineTool({
    name: "fetched",
    description: "Runs once",
    parameters: { type: "object", properties: {} } as const,
    run: async () => "ran",
  });
  await using _serving = await world.serve([tool], { target: "fetched" });
  await expect.poll(isWaiting("fetched")).toBe(1);
  const [service] = world.engine.calls.services("demo", "fetched");
  expect(service).toMatchObject({ target: "fetched", holder: expect.stringContaining("fetched") });
  expect(service?.safeOnly).toBeUndefined();
});

test("[NATS-line-3] a call whose answer reaches no client goes back at once, also before its lease is over", async () => {
  await addTool("gone", "safe");
  raw.publish(gatewayOf("gone"), JSON.stringify({ max: 4, wait_seconds: 60, holder: "dead" }), {
    reply: "_INBOX.nobody.1",
  });
  await expect.poll(isWaiting("gone")).toBe(1);
  const toolCallId = await world.dispatch("gone");
  await expect
    .poll(async () => (await leasesOf(toolCallId)).map(({ holder, ended }) => [holder, ended]))
    .toEqual([["dead", "released"]]);
  expect(await callView(toolCallId)).toMatchObject({ status: "queued", attempts: 0 });
});

test("[NATS-line-4] an answer carries what NATS can carry; the other calls wait for the next question", async () => {
  const runs: string[] = [];
  await addTool("wide", "safe");
  const ids = await Promise.all(["a", "b", "c"].map((letter) => world.dispatch("wide", { text: `${letter}${LARGE}` })));
  const { commands } = await askForWork("wide", { max: 8 });
  expect(commands).toHaveLength(1);
  const first = commands?.[0]?.headers[HEADERS.toolCallId];
  await expect
    .poll(async () => Promise.all(ids.filter((id) => id !== first).map(async (id) => (await callView(id)).status)))
    .toEqual(["queued", "queued"]);
  await using _serving = await world.serve([echo("wide", runs)], { target: "wide" });
  await Promise.all(ids.map((id) => world.until(id, "success")));
  expect(runs.sort()).toEqual([...ids].sort());
});

test("[NATS-line-5] the end of a gateway ends the waits there, without a call", async () => {
  await addTool("ending", "safe");
  const link = await openNatsLink({ url: world.nats.url, name: "second plane" }, { log: silentLog });
  const another = await createNatsGateway({ engine: world.engine, link, log: silentLog });
  // Of so many questions some are taken by the second process.
  const asking = Array.from({ length: 12 }, () => askForWork("ending", { max: 1, wait_seconds: 60 }));
  await expect.poll(() => world.engine.calls.services("demo", "ending").length).toBe(1);
  await another.stop();
  expect((await Promise.race(asking)).commands).toEqual([]);
  await link.close();
});

test("[NATS-line-6] a command that was left out is published when no service takes the call", async () => {
  await addTool("left", "safe");
  const commands = raw.subscribe("cg.v1r4.demo.*.cmd.tool.left.>");
  await raw.flush();
  expect((await askForWork("left", { max: 1, wait_seconds: 0.01 })).commands).toEqual([]);
  const toolCallId = await world.dispatch("left");
  expect(await callView(toolCallId)).toMatchObject({ status: "queued", publishes: 0 });
  await expect
    .poll(() => commands.map(({ headers }) => headers[HEADERS.toolCallId]), { timeout: 20_000 })
    .toEqual([toolCallId]);
});
