import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { openNatsLink } from "@toolplane/bus/nats";
import { type Log, silentLog } from "@toolplane/engine";
import { eventually, startNats } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { openBus, readNatsOptions } from "./open-bus.ts";

test("[UP-9-7] services that wait on NATS can be counted, without asking for much when there is none", async () => {
  await using server = await startNats();
  const nats = { url: server.url, name: "test" };
  const bus = await openBus({ nats, replicas: undefined, republishSeconds: undefined, log: silentLog });
  const carrier = bus.carrierFor(async () => "here");
  await carrier.prepare?.();
  const durable = { durable: "tool_text__demo", pattern: "cg.v1r4.demo.*.cmd.tool.text.>" };
  await carrier.open({ bury: async () => {}, log: silentLog }).ensureDurables([durable]);
  const count = (target: string) => bus.waiting({ projectId: "demo", target });
  expect([await count("text"), await count("nobody"), await count("no token")]).toEqual([0, undefined, undefined]);
  const service = await openNatsLink(nats, { log: silentLog });
  const stop = new AbortController();
  const fetching = service.commands(durable.durable).fetch({ max: 1, waitMs: 30_000, signal: stop.signal });
  await eventually(async () => (await count("text")) === 1);
  stop.abort();
  await fetching;
  await service.close();
  await server.kill();
  expect(await count("text")).toBeUndefined();
  await bus.close();
});

test("[UP-9-2] an empty password file is said to be empty", () => {
  const directory = mkdtempSync(join(tmpdir(), "toolplane-nats-password-"));
  try {
    const passwordFile = join(directory, "pw");
    const none = { credentials: undefined, ca: undefined, cert: undefined, key: undefined };
    const setting = { ...none, url: "nats://engine@h:1", passwordFile, inboxPrefix: undefined, replicas: undefined };
    writeFileSync(passwordFile, "\n");
    expect(() => readNatsOptions(setting, "t")).toThrow(`the password for NATS: ${passwordFile}: the file is empty`);
    writeFileSync(passwordFile, "secret\n");
    expect(readNatsOptions(setting, "t").url).toContain("engine:secret@h:1");
  } finally {
    rmSync(directory, { recursive: true });
  }
});

/** Sends more than a reader that does not read may leave in the server; says when the server has it all. */
const FLOOD = `
  const { connect } = require("node:net");
  const { workerData: { port, subject, done } } = require("node:worker_threads");
  const flag = new Int32Array(done);
  const body = "x".repeat(64 * 1024);
  const message = "PUB " + subject + " " + body.length + "\\r\\n" + body + "\\r\\n";
  const socket = connect(port, "127.0.0.1");
  let heard = "";
  socket.on("data", (data) => {
    heard += data;
    if (!heard.includes("PONG")) return;
    socket.destroy();
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
  });
  socket.write('CONNECT {"verbose":false}\\r\\n' + message.repeat(400) + "PING\\r\\n");
`;

/** Nothing is read in this thread until the flood is over. */
const floodUnread = (port: number, subject: string): void => {
  const done = new SharedArrayBuffer(4);
  const worker = new Worker(FLOOD, { eval: true, workerData: { port, subject, done } });
  Atomics.wait(new Int32Array(done), 0, 0, 20_000);
  worker.unref();
};

test("[UP-9-12] a flood that is not read cuts the gateway off for a moment, and nothing else", async () => {
  await using server = await startNats({ config: `max_pending: 1MB\nwrite_deadline: "500ms"` });
  const lost: unknown[] = [];
  const log: Log = {
    ...silentLog,
    warn: (message, fields) => void (message.endsWith("is lost") && lost.push(fields?.connection)),
  };
  const nats = { url: server.url, name: "plane" };
  const bus = await openBus({ nats, replicas: undefined, republishSeconds: undefined, log });
  const gateway = await bus.openGatewayLink();
  let served = 0;
  await gateway.respond("gateway.>", "q", async () => {
    served += 1;
    return { headers: {}, payload: "here" };
  });
  floodUnread(server.port, "gateway.flood");
  await eventually(async () => lost.length > 0);
  await eventually(async () => bus.connected());
  expect(lost).toEqual(["plane, gateway"]);
  const reply = await bus.link.request({ subject: "gateway.again", headers: {}, payload: "" }, { timeoutMs: 10_000 });
  expect(reply.payload).toBe("here");
  expect(served).toBeGreaterThan(0);
  await bus.close();
  expect(gateway.connected()).toBe(false);
});
