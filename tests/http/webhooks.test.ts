// Webhooks over the API: registered, told, retried, replayed; and what no webhook reaches.

import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createFunctionBrain, createWorker } from "@toolplane/agents";
import { createIds, silentLog, systemClock } from "@toolplane/engine";
import {
  createSendDelivery,
  createWebhookDoor,
  createWebhookEgress,
  createWebhookKey,
  deliverWebhooks,
} from "@toolplane/server/internal";
import { meddle, toolUpload, withTestClient } from "@toolplane/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

const SECRET = "a-secret-of-this-webhook";

interface Got {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let server: Server;
let origin: string;
let http: HttpStack;
let delivery: { stop(): Promise<void> };
let got: Got[] = [];
let answer: (response: ServerResponse) => void;
const took = (response: ServerResponse): void => void response.writeHead(204).end();

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on("end", () => {
      got.push({ path: request.url ?? "", headers: request.headers, body });
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  origin = `http://127.0.0.1:${port}`;
  const allow = [{ protocol: "http:", host: "127.0.0.1", port }] as const;
  const hosts = ["127.0.0.1", "hooks.example.com"];
  const key = createWebhookKey("the key of these tests");
  const webhooks = createWebhookDoor({ hosts, allow, key: () => key, newId: createIds().uuid });
  http = await startHttpStack({}, { webhooks });
  const egress = createWebhookEgress(hosts, allow);
  const loop = deliverWebhooks({
    engine: http.t.engine,
    keyId: key.keyId,
    send: createSendDelivery(egress.fetch, key, systemClock.now),
    clock: systemClock,
    log: silentLog,
  });
  delivery = {
    async stop() {
      await loop.stop();
      await egress.close();
    },
  };
});
beforeEach(() => {
  got = [];
  answer = took;
});
afterAll(async () => {
  await delivery.stop();
  await http[Symbol.asyncDispose]();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const CLAIM = { max: 10, leaseSeconds: 60, underWay: [], perReceiver: 4, perProject: 16 };
const P = "/projects/demo";
const register = async (path: string, events?: readonly string[]): Promise<string> => {
  const made = await http.send("POST", `${P}/webhooks`, { url: `${origin}${path}`, secret: SECRET, events });
  expect(made.status).toBe(201);
  return made.body.webhook_id;
};
const remove = (id: string) => http.send("DELETE", `${P}/webhooks/${id}`);

/** A call that a service takes and settles. */
const runCall = async (body: object = {}): Promise<string> => {
  const made = await http.send("POST", `${P}/calls`, { tool_name: "safe", ...body });
  const [leased] = await http.t.engine.calls.claim({ projectId: "demo", target: "test", holder: "test", max: 1 });
  const id = leased?.facts.toolCallId ?? expect.unreachable("no call");
  await http.send("POST", `${P}/calls/${id}/result`, { lease: leased?.lease.id, status: "success", result: { a: 1 } });
  expect(made.body.tool_call_id).toBe(id);
  return id;
};
const eventsAt = (path: string) => got.filter((one) => one.path === path).map(({ body }) => JSON.parse(body).event);
const deliveriesOf = async (id: string) => (await http.send("GET", `${P}/webhooks/${id}/deliveries`)).body.items;
const statusOf = async (id: string) => (await deliveriesOf(id)).map(({ status }) => status);
const due = async (): Promise<void> => {
  await meddle(http.t, "deliveriesDue");
  http.t.engine.doorbell.ring("registry");
};

test("[API-webhook-1] [API-webhook-2] a settled call is told, signed; the secret is nowhere", async () => {
  const id = await register("/one");
  const callId = await runCall();
  await vi.waitUntil(() => got.length > 0);
  const [{ headers, body }] = got as [Got];
  const { "webhook-id": deliveryId, "webhook-timestamp": at, "webhook-signature": signature } = headers;
  const expected = createHmac("sha256", SECRET).update(`${deliveryId}.${at}.${body}`).digest("base64");
  expect(signature).toBe(`v1,${expected}`);
  expect(JSON.parse(body)).toMatchObject({
    delivery_id: deliveryId,
    event: "call.settled",
    project_id: "demo",
    data: { tool_call_id: callId, tool_name: "safe", status: "success", phase: "settled" },
  });
  await expect.poll(() => statusOf(id)).toEqual(["delivered"]);
  const listed = await http.send("GET", `${P}/webhooks`);
  expect(listed.body.items).toMatchObject([{ webhook_id: id, url: `${origin}/one` }]);
  const dump = await withTestClient(http.t.database.url, async (client) =>
    JSON.stringify([
      (await client.query("select * from resource.webhooks")).rows,
      (await client.query("select * from state.webhook_deliveries")).rows,
      (await client.query("select * from resource.audit")).rows,
      listed.body,
    ]),
  );
  expect(dump).not.toContain(SECRET);
  expect(dump).toContain("webhook.created");
  expect((await remove(id)).status).toBe(204);
  expect((await remove(id)).status).toBe(404);
});

test("[API-webhook-1] a webhook is told what happens after it was made, not what came before", async () => {
  await runCall();
  const id = await register("/fresh");
  const callId = await runCall();
  await expect.poll(() => statusOf(id)).toEqual(["delivered"]);
  expect(got.map(({ body }) => JSON.parse(body).data.tool_call_id)).toEqual([callId]);
  await remove(id);
});

test("[API-webhook-1] [API-webhook-3] a receiver that fails gets the same delivery again, and the others of the call after it", async () => {
  const id = await register("/order", ["call.*"]);
  answer = (response) => void response.writeHead(500).end();
  await runCall();
  await expect.poll(async () => (await deliveriesOf(id)).some(({ attempts }) => attempts === 1)).toBe(true);
  await expect.poll(async () => (await deliveriesOf(id)).length).toBe(3);
  expect(new Set(got.map(({ headers }) => headers["toolplane-event"]))).toEqual(new Set(["call.dispatched"]));
  const [first] = got as [Got];
  answer = took;
  await due();
  await expect.poll(() => statusOf(id)).toEqual(["delivered", "delivered", "delivered"]);
  const again = got.filter(({ headers }) => headers["webhook-id"] === first.headers["webhook-id"]);
  expect(again.length).toBeGreaterThan(1);
  const taken = eventsAt("/order").slice(-3);
  expect(taken).toEqual(["call.dispatched", "call.leased", "call.settled"]);
  await remove(id);
});

test("[API-webhook-3] the last attempt leaves a dead delivery, which can be replayed", async () => {
  const id = await register("/dead");
  answer = (response) => void response.writeHead(503).end();
  await runCall();
  await expect.poll(async () => (await deliveriesOf(id))[0]?.attempts).toBe(1);
  await meddle(http.t, "lastAttempts");
  http.t.engine.doorbell.ring("registry");
  await expect.poll(() => statusOf(id)).toEqual(["dead"]);
  const [dead] = await deliveriesOf(id);
  expect(dead).toMatchObject({ last_status: 503, last_error: "the receiver answered 503", next_attempt_at: null });
  answer = took;
  const replayed = await http.send("POST", `${P}/webhook-deliveries/${dead?.delivery_id}/replay`);
  expect([replayed.status, replayed.body.status]).toEqual([200, "pending"]);
  await expect.poll(() => statusOf(id)).toEqual(["delivered"]);
  expect((await http.send("POST", `${P}/webhook-deliveries/nothing/replay`)).status).toBe(404);
  expect((await http.send("GET", `${P}/webhooks/nothing/deliveries`)).status).toBe(404);
  await remove(id);
});

test("[API-webhook-3] a receiver that is gone for good is not asked again", async () => {
  const id = await register("/gone");
  answer = (response) => void response.writeHead(410).end();
  await runCall();
  await expect.poll(() => statusOf(id)).toEqual(["dead"]);
  expect(got).toHaveLength(1);
  await remove(id);
});

test("[API-webhook-3] a webhook of one call is tried again when no other webhook waits for events", async () => {
  answer = (response) => void response.writeHead(500).end();
  await runCall({ webhook: { url: `${origin}/only`, secret: SECRET } });
  await vi.waitUntil(() => eventsAt("/only").length === 1);
  // Its call is over, so no project has a webhook that waits for events.
  await vi.waitUntil(async () => (await http.t.engine.webhooks.readers()).length === 0);
  answer = took;
  await vi.waitUntil(async () => {
    await due();
    return eventsAt("/only").length > 1;
  });
  await meddle(http.t, "loseWebhooks");
});

test("[API-webhook-1] the end of a turn is told, once, with what became of it", async () => {
  const { engine } = http.t;
  const brain = createFunctionBrain(() => "done");
  const worker = createWorker({ engine, brains: async () => brain, workerTargets: ["pool"] });
  await worker.start();
  await engine.profiles.upsertProfile("demo", { name: "thinker", worker_target: "pool", allowed_tools: [] });
  await engine.agents.upsertAgent("demo", { agent_id: "thinker", profile_name: "thinker" });
  const id = await register("/turn", ["turn.ended"]);
  const made = await http.send("POST", `${P}/agents/thinker/turns`, { instruction: "think", wait_seconds: 30 });
  expect(made.body.status).toBe("success");
  await expect.poll(() => statusOf(id)).toEqual(["delivered"]);
  expect(got.map(({ body }) => JSON.parse(body))).toMatchObject([
    { event: "turn.ended", project_id: "demo", data: { agent_turn_id: made.body.agent_turn_id, status: "success" } },
  ]);
  await worker.stop();
  await remove(id);
});

test("[SEC-webhook-lanes] calls whose own webhooks lead to a silent receiver hold up no other project", async () => {
  const id = await register("/neighbour");
  expect((await http.send("POST", "/projects", { project_id: "noisy", title: "noisy" })).status).toBe(201);
  const definition = toolUpload({ name: "safe", options: { retry: "safe" } });
  expect((await http.send("POST", "/projects/noisy/tools", definition)).status).toBe(201);
  answer = (response) => (response.req.url === "/silent" ? undefined : took(response));
  const webhook = { url: `${origin}/silent`, secret: SECRET };
  const calls = Array.from({ length: 40 }, () => ({ tool_name: "safe", webhook }));
  expect((await http.send("POST", "/projects/noisy/calls/batch", calls)).status).toBe(200);
  const held = await http.t.engine.calls.claim({ projectId: "noisy", target: "test", holder: "test", max: 40 });
  await Promise.all(
    held.map(({ facts, lease }) =>
      http.send("POST", `/projects/noisy/calls/${facts.toolCallId}/result`, { lease: lease.id, status: "success" }),
    ),
  );
  await expect.poll(() => got.filter(({ path }) => path === "/silent").length).toBeGreaterThanOrEqual(4);
  await runCall();
  await expect.poll(() => eventsAt("/neighbour")).toEqual(["call.settled"]);
  expect(got.filter(({ path }) => path === "/silent")).toHaveLength(4);
  await remove(id);
  expect((await http.send("DELETE", "/projects/noisy?force=true")).status).toBe(204);
});

test("[API-webhook-1] two processes that read the same events make each delivery once; a lapsed lease is taken over", async () => {
  await delivery.stop();
  const id = await register("/twice");
  const { webhooks } = http.t.engine;
  const [reader] = (await webhooks.readers()).filter(({ projectId }) => projectId === "demo");
  await runCall();
  const other = await http.t.another();
  if (reader === undefined) expect.unreachable("no reader");
  await Promise.all([webhooks.read(reader), other.webhooks.read(reader), webhooks.read(reader)]);
  await webhooks.read(reader);
  expect(await statusOf(id)).toEqual(["pending"]);
  const claim = { ...CLAIM, keyId: createWebhookKey("the key of these tests").keyId };
  const [mine] = await webhooks.claim(claim);
  expect(await other.webhooks.claim(claim)).toEqual([]);
  await meddle(http.t, "deliveriesDue");
  const [theirs] = await other.webhooks.claim(claim);
  expect([theirs?.deliveryId, theirs?.attempts]).toEqual([mine?.deliveryId, 2]);
  // The first holder comes back too late.
  if (mine !== undefined) await webhooks.settle(mine, { taken: false, status: 500, reason: "late", final: true });
  if (theirs !== undefined) await other.webhooks.settle(theirs, { taken: true, status: 200 });
  expect(await statusOf(id)).toEqual(["delivered"]);
  expect(await other.webhooks.claim({ ...claim, keyId: "another key" })).toEqual([]);
  await remove(id);
});

describe("a webhook of one call", () => {
  test("[API-webhook-1] is told of that call only, and is gone when no call was made", async () => {
    const { webhooks } = http.t.engine;
    const webhook = { url: `${origin}/call`, secret: SECRET };
    const callId = await runCall({ webhook, idempotency_key: "once" });
    await runCall();
    const again = await http.send("POST", `${P}/calls`, { tool_name: "safe", webhook, idempotency_key: "once" });
    expect(again.body.tool_call_id).toBe(callId);
    expect((await http.send("POST", `${P}/calls`, { tool_name: "nothing", webhook })).status).toBe(404);
    const rows = await withTestClient(
      http.t.database.url,
      async (client) =>
        (await client.query<{ tool_call_id: string }>("select tool_call_id from resource.webhooks")).rows,
    );
    expect(rows).toEqual([{ tool_call_id: callId }]);
    for (const reader of await webhooks.readers()) await webhooks.read(reader);
    // Its call is over: no further event is read for it.
    expect(await webhooks.readers()).toEqual([]);
    const keyId = createWebhookKey("the key of these tests").keyId;
    const claimed = await webhooks.claim({ ...CLAIM, keyId });
    expect(claimed.map(({ event, body }) => [event, JSON.parse(body).data.tool_call_id])).toEqual([
      ["call.settled", callId],
    ]);
  });
});

describe("[API-webhook-4] what no webhook reaches", () => {
  test.each([
    ["http://127.0.0.1:1/", "may not be asked"],
    ["http://localhost/", "may not be asked"],
    ["http://169.254.169.254/latest/meta-data", "may not be asked"],
    ["https://10.0.0.1/", "may not be asked"],
    ["https://2130706433/", "may not be asked"],
    ["https://[::ffff:127.0.0.1]/", "may not be asked"],
    ["https://evil.example/", "not in the list of allowed hosts"],
    ["https://hooks.example.com.evil.example/", "not in the list of allowed hosts"],
    ["http://hooks.example.com/", "plain http"],
    ["https://hooks.example.com:8443/", "port"],
    ["https://user:pw@hooks.example.com/", "user or a password"],
    ["https://hooks.example.com/#x", "no part after #"],
    ["file:///etc/passwd", "not an http"],
    ["javascript:alert(1)", "not an http"],
  ])("%s is refused when it is registered", async (url, why) => {
    const { status, body } = await http.send("POST", `${P}/webhooks`, { url, secret: SECRET });
    expect([status >= 400 && status < 500, body.error.message]).toEqual([true, expect.stringContaining(why)]);
    expect(body.error.message).not.toContain("pw");
    const call = await http.send("POST", `${P}/calls`, { tool_name: "safe", webhook: { url, secret: SECRET } });
    expect(call.status).toBe(status);
  });

  test("short secrets, unknown events and unknown members are refused", async () => {
    const url = "https://hooks.example.com/";
    for (const body of [
      { url, secret: "short" },
      { url, secret: SECRET, events: ["call.exploded"] },
      { url, secret: SECRET, events: ["call.settled\r\nx: y"] },
      { url, secret: SECRET, more: 1 },
      { url },
    ])
      expect((await http.send("POST", `${P}/webhooks`, body)).status).toBe(400);
  });

  test("a redirect is not followed, and a long answer is not read", async () => {
    const key = createWebhookKey("k");
    const egress = createWebhookEgress(
      ["127.0.0.1"],
      [{ protocol: "http:", host: "127.0.0.1", port: (server.address() as AddressInfo).port }],
    );
    const send = createSendDelivery(egress.fetch, key, systemClock.now);
    const { sealedSecret } = key.seal(SECRET, "demo/w");
    const one = {
      ...{ deliveryId: "d", leaseId: "l", projectId: "demo", webhookId: "w", event: "call.settled", body: "{}" },
      ...{ attempts: 1, url: `${origin}/hostile`, receiver: "", sealedSecret },
    };
    const signal = new AbortController().signal;
    answer = (response) => void response.writeHead(302, { location: "http://169.254.169.254/" }).end();
    expect(await send(one, signal)).toMatchObject({ taken: false, status: 302, final: false });
    answer = (response) => {
      response.writeHead(200);
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(64 * 1024)));
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    };
    expect(await send(one, signal)).toEqual({ taken: true, status: 200 });
    answer = (response) => response.destroy();
    expect(await send(one, signal)).toMatchObject({ taken: false, status: undefined });
    // What was allowed once may not be any more.
    const elsewhere = { ...one, url: "http://127.0.0.1:1/" };
    expect(await send(elsewhere, signal)).toMatchObject({
      taken: false,
      reason: expect.stringContaining("may not be asked"),
    });
    expect(await send({ ...one, sealedSecret: "AAAA" }, signal)).toMatchObject({ taken: false, final: true });
    await egress.close();
  });
});

test("[API-webhook-5] while no project has a webhook, calls ring for nothing", async () => {
  await using other = await startHttpStack();
  const { engine } = other.t;
  let looks = 0;
  const webhooks = {
    ...engine.webhooks,
    readers: async () => {
      const readers = await engine.webhooks.readers();
      looks += 1;
      return readers;
    },
    claim: async () => expect.unreachable("nothing to claim"),
  };
  const loop = deliverWebhooks({
    engine: { webhooks, doorbell: engine.doorbell },
    keyId: "k",
    send: async () => expect.unreachable("nothing to send"),
    clock: systemClock,
    log: silentLog,
  });
  await vi.waitUntil(() => looks === 1);
  for (let n = 0; n < 5; n++) await other.send("POST", "/projects/demo/calls", { tool_name: "safe" });
  await loop.stop();
  expect(looks).toBe(1);
});
