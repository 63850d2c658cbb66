// What requests and readers may hold of the server's memory, tried from outside.

import { connect } from "node:net";
import { listen } from "@toolplane/server";
import { eventually } from "@toolplane/testkit";
import { expect, test } from "vitest";
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
