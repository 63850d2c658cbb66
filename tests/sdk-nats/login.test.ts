// A NATS server that knows its users: who may come in, what they may do, and that nothing of it shows anywhere.

import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineTool, type ServeOptions } from "@toolplane/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRecordingLog, openWorld, type World } from "./world.ts";

const PASSWORD = "p@ss/w0rd-of-the-service";
const USERS = `authorization { users: [
  { user: engine, password: engine }
  { user: text, password: ${JSON.stringify(PASSWORD)}, permissions {
    publish { allow: [
      "cg.v1r4.demo.*.rpc.gateway.text.>"
      "$JS.API.CONSUMER.MSG.NEXT.cg_cmd_v1r4.tool_text__demo"
      "$JS.API.CONSUMER.INFO.cg_cmd_v1r4.tool_text__demo"
      "$JS.ACK.cg_cmd_v1r4.tool_text__demo.>"
    ] }
    subscribe { allow: ["_INBOX_text__demo.>"] }
  } }
] }`;

let world: World;
beforeAll(async () => {
  world = await openWorld({ nats: { config: USERS }, url: ({ url }) => url.replace("//", "//engine:engine@") });
});
afterAll(() => world[Symbol.asyncDispose]());

const leaky = defineTool({
  name: "leaky",
  description: "Tells all it knows",
  parameters: { type: "object", properties: {} } as const,
  run: async (_args, { log }) => {
    log.info(`the password is ${PASSWORD}`);
    return { plain: PASSWORD, encoded: encodeURIComponent(PASSWORD), base64: Buffer.from(PASSWORD).toString("base64") };
  },
});

const address = (user: string, password: string): string =>
  world.nats.url.replace("//", `//${user}:${encodeURIComponent(password)}@`);

const start = (options: Partial<ServeOptions>) =>
  world.serve([leaky], { target: "text", natsInbox: "_INBOX_text__demo", startupMs: 500, ...options });

const failing = (options: Partial<ServeOptions>): Promise<unknown> =>
  start(options).then(
    async (serving) => serving.stop(),
    (error: unknown) => error,
  );

test("[API-6-N3] [API-6-N1] a user with its own rights and inbox serves, and its password is in no result and no log", async () => {
  const log = createRecordingLog();
  await using _serving = await start({ url: address("text", PASSWORD), log });
  const view = await world.call("leaky");
  const result = await world.resultOf(view);
  expect(result).toEqual({
    plain: "[redacted TOOLPLANE_URL]",
    encoded: "[redacted TOOLPLANE_URL]",
    base64: "[redacted TOOLPLANE_URL]",
  });
  for (const form of [PASSWORD, encodeURIComponent(PASSWORD)]) expect(log.text()).not.toContain(form);
});

test("[API-6-N1] [API-6-N3] a start that fails says why in one sentence, without the password", async () => {
  const errors = await Promise.all([
    failing({ url: address("text", "wrong-password") }),
    failing({ url: address("text", PASSWORD), natsInbox: "_INBOX_other" }),
    failing({ url: address("text", PASSWORD), target: "shop", natsInbox: "_INBOX_text__demo" }),
    failing({ url: "nats://127.0.0.1:1" }),
    failing({ url: address("text", PASSWORD), project: "shop" }),
  ]);
  expect(errors).toMatchObject([
    { code: "auth_failed", message: expect.stringContaining("may serve target text") },
    { code: "auth_failed", message: expect.stringContaining("TOOLPLANE_NATS_INBOX") },
    { code: "auth_failed", message: expect.stringContaining("target shop") },
    { code: "upstream_unavailable", message: expect.stringContaining("set TOOLPLANE_URL") },
    { code: "auth_failed", message: expect.stringContaining("project shop") },
  ]);
  for (const error of errors) expect((error as Error).message).not.toMatch(/wrong-password|w0rd/);
});

test("[API-6-N1] a credentials file that is not there, or is none, is one sentence", async () => {
  const path = join(tmpdir(), `toolplane-test-${process.pid}.creds`);
  writeFileSync(path, "no credentials");
  try {
    await expect(start({ url: world.nats.url, natsCredentials: "/nowhere/me.creds" })).rejects.toThrow(
      "cannot be read",
    );
    await expect(start({ url: world.nats.url, natsCredentials: path })).rejects.toThrow("not a NATS credentials file");
  } finally {
    rmSync(path);
  }
});
