// What requests and readers may hold of the server's memory, tried from outside.

import { connect } from "node:net";
import { listen } from "@toolplane/server/internal";
import { eventually, resultFor } from "@toolplane/testkit";
import { expect, test, vi } from "vitest";
import { openEvents } from "./event-reader.ts";
import { startHttpStack } from "./http-stack.ts";

const READERS = { perToken: 64, inAll: 1_024, slowMs: 30_000, cutMs: 10_000 };
const KB = 1_000;

test("[SEC-memory-bodies] unfinished bodies of one token leave room for the others, and are refused beyond its share", async () => {
  await using http = await startHttpStack({}, { bodies: { perToken: 1_000 * KB, inAll: 4_000 * KB } });
  const { engine } = http.t;
  const another = (await engine.tokens.create({ role: "operator", projectId: "demo" })).secret;
  const unfinished = (token: string) => {
    let pulled = 0;
    const pull = (): void => {
      pulled += 1;
    };
    const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
    const headers = { authorization: `Bearer ${token}`, "content-length": String(600 * KB) };
    const init = { method: "POST", headers, body, duplex: "half" };
    return { answer: http.raw("/projects/demo/calls/batch", init as RequestInit), pulled: () => pulled };
  };
  const held = unfinished(http.admin);
  await eventually(() => held.pulled() > 0);
  const refused = unfinished(http.admin);
  const answer = await refused.answer;
  expect([answer.status, answer.headers.get("retry-after"), refused.pulled()]).toEqual([429, "1", 0]);
  expect(await answer.json()).toMatchObject({ error: { code: "rate_limited", retryable: true } });
  const others = unfinished(another);
  await eventually(() => others.pulled() > 0);
  expect((await http.send("POST", "/projects/demo/calls", { tool_name: "safe" })).status).toBe(202);
});

test("[SEC-memory-bodies] a batch whose reader has gone counts until its calls are written", async () => {
  await using http = await startHttpStack({}, { bodies: { perToken: 1_000 * KB, inAll: 4_000 * KB } });
  const written = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const { call } = http.t.engine.calls;
  vi.spyOn(http.t.engine.calls, "call").mockImplementation(async (...asked) => {
    begun.resolve();
    await written.promise;
    return call(...asked);
  });
  const headers = { authorization: `Bearer ${http.admin}`, accept: "application/x-ndjson" };
  const body = JSON.stringify([{ tool_name: "safe", arguments: { text: "x".repeat(600 * KB) } }]);
  const send = () => http.raw("/projects/demo/calls/batch", { method: "POST", headers, body });
  const first = await send();
  await begun.promise;
  await first.body?.cancel();
  expect((await send()).status).toBe(429);
  written.resolve();
  await eventually(async () => {
    const again = await send();
    await again.body?.cancel();
    return again.status === 200;
  });
});

test("[SEC-memory-arriving] bodies that have not come are bounded for a token and in all; one that came with its headers passes", async () => {
  const bodies = { perToken: 1_000 * KB, inAll: 4_000 * KB, arriving: { perToken: 2, inAll: 3 } };
  await using http = await startHttpStack({}, { bodies });
  const another = (await http.t.engine.tokens.create({ role: "agent", projectId: "demo" })).secret;
  const unfinished = (token: string, path = "/projects/demo/calls") => {
    let pulled = false;
    const pull = (): void => {
      pulled = true;
    };
    const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
    const headers = { authorization: `Bearer ${token}`, "content-length": "1000", "sec-fetch-site": "same-origin" };
    const answer = http.raw(path, { method: "POST", headers, body, duplex: "half" } as RequestInit);
    return { answer, isHeld: () => eventually(() => pulled) };
  };
  const refusalOf = async (token: string, path?: string) => (await unfinished(token, path).answer).json();
  for (let one = 0; one < 2; one++) await unfinished(http.admin).isHeld();
  const error = (limit: number) => ({ error: { code: "rate_limited", detail: { max_arriving: limit } } });
  expect(await refusalOf(http.admin)).toMatchObject(error(2));
  expect(await refusalOf(http.admin, "/mcp/demo")).toMatchObject(error(2));
  await unfinished(another).isHeld();
  expect(await refusalOf(another)).toMatchObject(error(3));
  // Logins come before tokens.
  expect(await refusalOf("none", "/session")).toMatchObject(error(3));
  const server = await listen({ app: http.app, host: "127.0.0.1", port: 0 });
  /** Over a real connection, in one piece; resolves when the server has closed it. */
  const answerTo = async (body: string, length: number): Promise<string> => {
    const socket = connect(Number(server.address.split(":")[1]), "127.0.0.1");
    const said: string[] = [];
    socket.on("data", (data) => said.push(String(data)));
    const head = `Host: localhost\r\nAuthorization: Bearer ${http.admin}\r\nConnection: close\r\nContent-Length: ${length}`;
    socket.write(`POST /projects/demo/calls HTTP/1.1\r\n${head}\r\n\r\n${body}`);
    await new Promise<void>((resolve) => socket.once("close", () => resolve()));
    return said.join("").slice(0, 12);
  };
  const whole = JSON.stringify({ tool_name: "safe" });
  expect(await answerTo(whole, whole.length)).toBe("HTTP/1.1 202");
  expect(await answerTo("{", 1_000)).toBe("HTTP/1.1 429");
  await server.close(1_000);
});

test("[SEC-memory-bodies] a route that takes little reads little", async () => {
  await using http = await startHttpStack();
  const large = { reason: "x".repeat(100 * KB) };
  for (const path of ["/calls/nothing/cancel", "/turns/nothing/stop", "/calls/nothing/approve"]) {
    const { status, body } = await http.send("POST", `/projects/demo${path}`, large);
    expect([path, status, body.error.code]).toEqual([path, 413, "payload_too_large"]);
  }
});

test("[SEC-memory-readers] one token has so many streams, and so has the server", async () => {
  await using http = await startHttpStack({}, { readers: { ...READERS, perToken: 2, inAll: 3 } });
  const another = (await http.t.engine.tokens.create({ role: "viewer", projectId: "demo" })).secret;
  const first = await openEvents(http, http.admin);
  await openEvents(http, http.admin);
  const refusal = async (token: string) => (await http.send("GET", "/projects/demo/events", undefined, { token })).body;
  expect((await refusal(http.admin)).error).toMatchObject({ code: "rate_limited", detail: { max_streams: 2 } });
  await openEvents(http, another);
  expect((await refusal(another)).error).toMatchObject({ code: "rate_limited", detail: { max_streams: 3 } });
  await first.close();
  const again = await eventually(() => openEvents(http, another).catch(() => undefined));
  expect(again).toBeDefined();
});

const fill = async (http: Awaited<ReturnType<typeof startHttpStack>>, events: number): Promise<void> => {
  const subject = "cg.v1r4.demo.public.evt.agent.helper.task";
  const payload = JSON.stringify({ filler: "x".repeat(100 * KB) });
  for (let n = 0; n < events; n += 20)
    await http.t.engine.bus.publish(Array.from({ length: 20 }, () => ({ subject, headers: {}, payload })));
};

test("[SEC-memory-readers] a page of events is bounded in bytes, and goes on after it", async () => {
  await using http = await startHttpStack();
  const { events } = http.t.engine;
  await fill(http, 40);
  let position = "0-0";
  const pages: number[] = [];
  for (let left = 40; left > 0; left -= pages.at(-1) ?? left) {
    const page = await events.read("demo", position);
    pages.push(page.length);
    position = page.at(-1)?.position ?? position;
  }
  expect(pages.reduce((sum, one) => sum + one, 0)).toBe(40);
  expect(Math.max(...pages)).toBe(11);
});

test("[SEC-memory-readers] a reader that takes nothing is let go with a reason, and reads on where it was", async () => {
  await using http = await startHttpStack({}, { readers: { ...READERS, perToken: 1, slowMs: 20 } });
  await fill(http, 60);
  const slow = await openEvents(http, http.admin, { "last-event-id": "0-0" });
  // Its place is free again: it was let go before it has read anything.
  const next = await eventually(() => openEvents(http, http.admin).catch(() => undefined));
  const text = await slow.untilEnd();
  expect(text).toContain('event: end\ndata: {"error":{"code":"rate_limited"');
  expect(text).toContain("connect again with Last-Event-ID");
  await next?.close();
  const last = [...text.matchAll(/^id: (\S+)$/gm)].at(-1)?.[1] ?? "";
  const rest = await http.t.engine.events.read("demo", last);
  expect(rest.length).toBeGreaterThan(0);
});

test("[SEC-memory-readers] a reader that never reads is cut off", async () => {
  await using http = await startHttpStack({}, { readers: { ...READERS, slowMs: 20, cutMs: 20 } });
  await fill(http, 200);
  const server = await listen({ app: http.app, host: "127.0.0.1", port: 0 });
  const [host = "", port = ""] = server.address.split(":");
  const socket = connect(Number(port), host);
  socket.write(
    `GET /projects/demo/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${http.admin}\r\nLast-Event-ID: 0-0\r\n\r\n`,
  );
  socket.on("error", () => {});
  // The stream has begun; from here on it is not read.
  await new Promise<void>((resolve) => socket.once("data", () => resolve()));
  socket.pause();
  // No new connections; it resolves when the last one has ended, and nobody but the server ends this one.
  await server.close(60_000);
  socket.destroy();
});

const BATCH = "/projects/demo/calls/batch";
const RESULT = 850 * KB;

/** One settled call with a large result, asked for so many times by its key. */
const largeCall = async (http: Awaited<ReturnType<typeof startHttpStack>>, copies: number) => {
  const item = { tool_name: "safe", idempotency_key: "large" };
  await http.send("POST", "/projects/demo/calls", item);
  const [call] = await http.t.engine.calls.claim(
    { projectId: "demo", target: "test", holder: "holder-1", max: 1 },
    5_000,
  );
  const settled = resultFor(call ?? expect.unreachable(), { result: { text: "x".repeat(RESULT) } });
  await http.t.engine.calls.settle(settled);
  return Array.from({ length: copies }, () => item);
};

const askBatch = (
  http: Awaited<ReturnType<typeof startHttpStack>>,
  items: unknown,
  accept: string,
  token = http.admin,
) =>
  http.raw(BATCH, {
    method: "POST",
    headers: { accept, authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(items),
  });

test("[SEC-memory-answers] the list of a batch is bounded: further results are left out and are read by their calls", async () => {
  await using http = await startHttpStack();
  const items = await largeCall(http, 60);
  const text = await (await askBatch(http, [...items, { tool_name: "nothing" }], "application/json")).text();
  expect(text.length).toBeLessThan(17 * 1024 * 1024);
  const answers = (JSON.parse(text) as { items: readonly Record<string, unknown>[] }).items;
  expect(answers).toHaveLength(61);
  const full = answers.filter(({ result }) => result !== undefined);
  expect(full).toHaveLength(Math.floor((16 * 1024 * 1024) / RESULT));
  expect(answers[59]).toMatchObject({
    status: "success",
    result_omitted: true,
    tool_result_card_id: expect.any(String),
  });
  expect(answers[59]).not.toHaveProperty("result");
  expect(answers[60]).toMatchObject({ error: { code: "not_found" } });
  const alone = await http.send("GET", `/projects/demo/calls/${String(answers[59]?.tool_call_id)}`);
  expect(JSON.stringify(alone.body).length).toBeGreaterThan(RESULT);
});

test.for(["application/json", "application/x-ndjson"])(
  "[SEC-memory-answers] results of a batch are made as they are read: %s",
  async (accept) => {
    await using http = await startHttpStack();
    const answer = await askBatch(http, await largeCall(http, 40), accept);
    const reader = answer.body?.getReader();
    const sizes: number[] = [];
    for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read())
      sizes.push(piece.value.byteLength);
    expect(Math.max(...sizes)).toBeLessThan(2 * RESULT);
  },
);

test("[SEC-memory-answers] a large result that is waited for is not copied for each item that waits", async () => {
  await using http = await startHttpStack();
  const item = { tool_name: "safe", idempotency_key: "large", wait_seconds: 60 };
  const answer = askBatch(http, [item, item, item], "application/json");
  const claimed = { projectId: "demo", target: "test", holder: "holder-1", max: 1 };
  const [call] = await http.t.engine.calls.claim(claimed, 60_000);
  const asked = vi.spyOn(http.t.engine.cards, "getCards");
  const result = { text: "x".repeat(RESULT) };
  await http.t.engine.calls.settle(resultFor(call ?? expect.unreachable(), { result }));
  expect(await (await answer).json()).toMatchObject({ items: [{ result }, { result }, { result }] });
  expect(asked.mock.calls.map(([, ids]) => ids.length)).toEqual([1, 1, 1]);
});

test("[SEC-memory-answers] one token has so many open batches, and so has the server; events keep their places", async () => {
  await using http = await startHttpStack({}, { readers: { ...READERS, perToken: 1, inAll: 2 } });
  const another = (await http.t.engine.tokens.create({ role: "operator", projectId: "demo" })).secret;
  const third = (await http.t.engine.tokens.create({ role: "operator", projectId: "demo" })).secret;
  const waits = [{ tool_name: "safe", wait_seconds: 60 }];
  const open = (token: string) => askBatch(http, waits, "application/x-ndjson", token);
  const first = await open(http.admin);
  const refused = await open(http.admin);
  expect([first.status, refused.status, refused.headers.get("retry-after")]).toEqual([200, 429, "1"]);
  expect(await refused.json()).toMatchObject({ error: { code: "rate_limited", detail: { max_streams: 1 } } });
  const second = await open(another);
  expect([second.status, (await open(third)).status]).toEqual([200, 429]);
  // A batch that is refused has made no call.
  const made = async () => (await http.send("GET", "/projects/demo/calls")).body.items.length;
  await eventually(async () => (await made()) >= 2);
  expect(await made()).toBe(2);
  await (await openEvents(http, http.admin)).close();
  await first.body?.cancel();
  const again = await eventually(async () => {
    const answer = await open(third);
    return answer.status === 200 ? answer : undefined;
  });
  await again?.body?.cancel();
  await second.body?.cancel();
});

test("[SEC-memory-answers] a connection whose answer is never read is closed", async () => {
  const closed = Promise.withResolvers<void>();
  const fetch = (_request: Request, env: { outgoing: NodeJS.EventEmitter }): Response => {
    env.outgoing.once("close", closed.resolve);
    return new Response("x".repeat(64_000 * KB));
  };
  const app = { fetch } as unknown as Parameters<typeof listen>[0]["app"];
  const server = await listen({ app, host: "127.0.0.1", port: 0, stuckAnswerMs: 50 });
  const [host = "", port = ""] = server.address.split(":");
  const socket = connect(Number(port), host);
  socket.on("error", () => {});
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await new Promise<void>((resolve) => socket.once("data", () => resolve()));
  socket.pause();
  // Only the server ends this connection.
  await closed.promise;
  expect(socket.destroyed).toBe(false);
  socket.destroy();
  await server.close(1_000);
});

test("[SEC-memory-connections] connections beyond the limit are closed at once", async () => {
  await using http = await startHttpStack();
  const server = await listen({ app: http.app, host: "127.0.0.1", port: 0, maxConnections: 1 });
  const [host = "", port = ""] = server.address.split(":");
  const first = connect(Number(port), host);
  await new Promise<void>((resolve) => first.once("connect", resolve));
  const second = connect(Number(port), host);
  second.on("error", () => {});
  await new Promise<void>((resolve) => second.once("close", () => resolve()));
  expect(first.destroyed).toBe(false);
  first.destroy();
  await server.close(1_000);
});

test("[SEC-memory-waits] [SEC-11-2] one token has so many waiting requests, and so has the server; requests that do not wait pass", async () => {
  await using http = await startHttpStack({}, { waits: { perToken: 2, inAll: 3 } });
  const another = (await http.t.engine.tokens.create({ role: "viewer", projectId: "demo" })).secret;
  const { body } = await http.send("POST", "/projects/demo/calls", { tool_name: "safe" });
  const leave = new AbortController();
  const path = `/projects/demo/calls/${body.tool_call_id}`;
  const headers = { authorization: `Bearer ${http.admin}` };
  const waiting = [1, 2].map(() =>
    http.raw(`${path}?wait_seconds=300`, { headers, signal: leave.signal }).catch(() => undefined),
  );
  const refused = await eventually(async () => {
    const answer = await http.send("GET", `${path}?wait_seconds=1`);
    return answer.status === 429 ? answer : undefined;
  });
  expect(refused?.body.error).toMatchObject({ code: "rate_limited", retryable: true });
  expect((await http.send("GET", path)).status).toBe(200);
  const call = { tool_name: "safe" };
  const claim = "/projects/demo/tool-services/test/claim";
  for (const more of [{}, { wait_seconds: 0 }])
    expect((await http.send("POST", "/projects/demo/calls", { ...call, ...more })).status).toBe(202);
  expect(await http.send("POST", claim, { wait_seconds: 0 })).toMatchObject({ status: 200, body: { commands: [{}] } });
  const exchange = { max: 1, wait_seconds: 0 };
  expect(await http.send("POST", claim.replace("claim", "exchange"), exchange)).toMatchObject({
    body: { commands: [{}] },
  });
  // One that does wait needs a place.
  expect((await http.send("POST", claim, { wait_seconds: 1 })).status).toBe(429);
  expect((await http.send("POST", "/projects/demo/calls", { ...call, wait_seconds: 1 })).status).toBe(429);
  expect((await http.send("GET", `${path}?wait_seconds=0.01`, undefined, { token: another })).status).toBe(200);
  leave.abort();
  await Promise.all(waiting);
  expect((await http.send("GET", `${path}?wait_seconds=0.01`)).status).toBe(200);
});

const MB = 1_000 * KB;
const ROOM = { answers: { perToken: 20 * MB, inAll: 100 * MB } };
type Stack = Awaited<ReturnType<typeof startHttpStack>>;

const claimUnread = (http: Stack) =>
  http.raw("/projects/demo/tool-services/test/claim", {
    method: "POST",
    headers: { authorization: `Bearer ${http.admin}`, "content-type": "application/json" },
    body: JSON.stringify({ max: 8, wait_seconds: 0 }),
  });
const countQueued = async (http: Stack): Promise<number> =>
  (await http.t.engine.calls.list("demo", { limit: 100, status: "queued" })).length;
const fillQueue = async (http: Stack): Promise<void> => {
  const text = "x".repeat(800 * KB);
  for (let made = 0; made < 40; made++)
    await http.t.engine.calls.dispatch({ projectId: "demo", toolName: "safe", arguments: { text } });
};

test("[SEC-memory-answers] a service that does not read its commands gets no more: nothing is leased for it", async () => {
  await using http = await startHttpStack({}, ROOM, false);
  await fillQueue(http);
  const unread = [await claimUnread(http), await claimUnread(http)];
  expect(unread.map(({ status }) => status)).toEqual([200, 200]);
  expect(await countQueued(http)).toBe(24);
  const refused = await claimUnread(http);
  expect([refused.status, await countQueued(http)]).toEqual([429, 24]);
  expect(await refused.json()).toMatchObject({ error: { code: "rate_limited", retryable: true } });
  for (const { body } of unread) await body?.cancel();
  expect((await claimUnread(http)).status).toBe(200);
});

test("[SEC-memory-answers] of claims at once, those that find no room give their commands back", async () => {
  await using http = await startHttpStack({}, ROOM, false);
  await fillQueue(http);
  const answers = await Promise.all(Array.from({ length: 5 }, () => claimUnread(http)));
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  // Three answers fit.
  await eventually(async () => (await countQueued(http)) === 16);
  for (const { body } of answers) await body?.cancel();
});

test("[SEC-memory-answers] an exchange does not repeat what cannot be the id of a call", async () => {
  await using http = await startHttpStack();
  const long = "z".repeat(1 * MB);
  const { body } = await http.send("POST", "/projects/demo/tool-services/test/exchange", {
    heartbeats: [{ tool_call_id: long, lease: "x" }],
    releases: [{ tool_call_id: long, lease: "x" }],
  });
  expect(JSON.stringify(body).length).toBeLessThan(2 * KB);
  expect(body).toMatchObject({ heartbeats: [{ tool_call_id: null, error: { code: "payload_too_large" } }] });
});
