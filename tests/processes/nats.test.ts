// The nats-server launcher: a real server with JetStream, killed, restarted and robbed of its store.

import { existsSync } from "node:fs";
import { findLeftovers, rememberProcess as remember, startNats, type TestNats, untilGone } from "@toolplane/testkit";
import { afterEach, expect, test } from "vitest";
import { requestNats } from "./nats-wire.ts";

afterEach(() => {
  expect(findLeftovers()).toEqual([]);
});

const createStream = (nats: TestNats): Promise<Record<string, unknown>> =>
  requestNats(nats.port, "$JS.API.STREAM.CREATE.notes", { name: "notes", subjects: ["notes.>"], storage: "file" });

const countMessages = async (nats: TestNats): Promise<unknown> => {
  const info = await requestNats(nats.port, "$JS.API.STREAM.INFO.notes", "");
  return (info.state as { messages?: number } | undefined)?.messages ?? info.error;
};

test("[API-1-3] a nats-server is found or installed, and brings JetStream on a free loopback port", async () => {
  await using first = await startNats();
  await using second = await startNats();
  expect(first.port).not.toBe(second.port);
  expect(first.url).toBe(`nats://127.0.0.1:${first.port}`);
  expect(await createStream(first)).toMatchObject({ config: { name: "notes" } });
  expect(await countMessages(second)).toMatchObject({ code: 404 });
});

test("SIGKILL and restart: same port, same store, what was stored is there", async () => {
  await using nats = await startNats();
  await createStream(nats);
  expect(await requestNats(nats.port, "notes.one", "hello")).toMatchObject({ stream: "notes", seq: 1 });
  const before = remember(nats.pid);
  await nats.kill();
  await untilGone([before], 0);
  await expect(requestNats(nats.port, "notes.two", "lost")).rejects.toThrow("ECONNREFUSED");
  await nats.restart();
  expect(nats.pid).not.toBe(before.pid);
  expect(await countMessages(nats)).toBe(1);
});

test("a polite restart keeps the store, a wipe loses it, and the port stays", async () => {
  await using nats = await startNats();
  await createStream(nats);
  await requestNats(nats.port, "notes.one", "hello");
  await nats.restart();
  expect(await countMessages(nats)).toBe(1);
  await nats.wipe();
  expect(await countMessages(nats)).toMatchObject({ code: 404 });
  expect(await createStream(nats)).toMatchObject({ config: { name: "notes" } });
});

test("stopping removes process and store; further configuration reaches the server", async () => {
  const nats = await startNats({ config: 'authorization { user: "u", password: "p" }' });
  const row = remember(nats.pid);
  expect(existsSync(nats.storeDir)).toBe(true);
  await expect(requestNats(nats.port, "notes.one", "hello")).rejects.toThrow(
    // The server says so and closes; what it said is lost when the request was still on its way.
    /Authorization Violation|ECONNRESET/,
  );
  await nats.stop();
  await untilGone([row], 0);
  expect(existsSync(nats.storeDir)).toBe(false);
});

test("a configuration the server refuses is an error with the server's own words, and leaves nothing", async () => {
  await expect(startNats({ config: "no_such_setting: 1" })).rejects.toThrow("no_such_setting");
});
