import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openNatsLink } from "@toolplane/bus/nats";
import { silentLog } from "@toolplane/engine";
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
