// What the gateway adds to the operations: answers that fit, failures without their causes, and an end that waits.

import type { InboundRequest, Responder } from "@toolplane/bus/nats";
import { type Log, silentLog } from "@toolplane/engine";
import { HEADERS, ToolplaneError } from "@toolplane/protocol";
import { expect, test } from "vitest";
import { createNatsGateway, type NatsGatewayOptions } from "./nats-gateway.ts";
import { planReply } from "./nats-reply.ts";
import type { ServiceEngine } from "./service-request.ts";

const TIME = 1_700_000_000_000;

/** A gateway over the given parts of an engine, on a link whose questions are the test's own. */
const openGateway = async (engine: object, log: Log = silentLog, most?: NatsGatewayOptions["most"]) => {
  let responder: Responder | undefined;
  const link = {
    async respond(pattern: string, _queue: string, given: Responder) {
      if (pattern.startsWith("cg.v1r4.")) responder = given;
      return { stop: async () => {} };
    },
  };
  const clock = { now: () => TIME, sleep: async () => {} };
  const offset = { aheadMs: () => 500, measure: async () => {} };
  const gateway = await createNatsGateway({ engine: engine as ServiceEngine, link, log, clock, offset, most });
  const ask = (operation: string, body: unknown, headers: Record<string, string> = {}, project = "demo") => {
    const subject = `cg.v1r4.${project}.public.rpc.gateway.text.${operation}`;
    const inbound: InboundRequest = { subject, headers, payload: JSON.stringify(body), reply: "_INBOX.1" };
    return responder?.(inbound);
  };
  return { gateway, ask };
};

test("[API-5-1] stopping waits for what was begun", async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const { gateway, ask } = await openGateway({ tools: { getTool: () => promise } });
  const answer = ask("get_tool", { tool_name: "safe" });
  let stopped = false;
  const stopping = gateway.stop().then(() => {
    stopped = true;
  });
  // A question asked later has been answered, and it still waits.
  expect((await ask("get_tool", {}))?.headers["CG-Status"]).toBe("400");
  expect(stopped).toBe(false);
  resolve(undefined);
  expect((await answer)?.headers["CG-Status"]).toBe("404");
  await stopping;
  expect(stopped).toBe(true);
});

test.each([
  ["number", { requests: 32, characters: 1_000_000 }],
  ["size", { requests: 1_000, characters: 32 * JSON.stringify({ tool_name: "safe" }).length }],
])(
  "[API-5-5] [UP-9-12] a flood while the database hangs is bounded by %s: who is too late is told to come again, and other operations and projects have room",
  async (_, most) => {
    const lines: string[] = [];
    const log = { ...silentLog, warn: (message: string) => void lines.push(message) };
    const { promise, resolve } = Promise.withResolvers<undefined>();
    let begun = 0;
    const getTool = (): Promise<undefined> => {
      begun += 1;
      return promise;
    };
    const { gateway, ask } = await openGateway({ tools: { getTool } }, log, most);
    const askOnce = () => ask("get_tool", { tool_name: "safe" });
    const waiting = Array.from({ length: 8 }, askOnce);
    for (const refused of await Promise.all([askOnce(), askOnce()])) {
      expect(refused?.headers["CG-Status"]).toBe("429");
      expect(JSON.parse(refused?.payload ?? "").error).toMatchObject({ code: "rate_limited", retryable: true });
    }
    expect([begun, lines.length]).toEqual([8, 1]);
    // Answered without the database: it came in.
    expect((await ask("heartbeat", {}))?.headers["CG-Status"]).toBe("400");
    for (const project of ["a", "b", "c"])
      waiting.push(...Array.from({ length: 8 }, () => ask("get_tool", { tool_name: "safe" }, {}, project)));
    expect(begun).toBe(32);
    expect((await ask("get_tool", { tool_name: "safe" }, {}, "d"))?.headers["CG-Status"]).toBe("429");
    resolve(undefined);
    const answers = await Promise.all([...waiting, gateway.stop().then(askOnce)]);
    expect(answers.map((answer) => answer?.headers["CG-Status"])).toEqual(Array.from({ length: 33 }, () => "404"));
  },
);

test("[API-5-5] a flood is one line in the log, however often a place is free for a moment; the next flood is another", async () => {
  const lines: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void lines.push(message) };
  const begun: (() => void)[] = [];
  const getTool = (): Promise<undefined> => new Promise((resolve) => begun.push(() => resolve(undefined)));
  const { ask } = await openGateway({ tools: { getTool } }, log, { requests: 16, characters: 1_000_000 });
  const askOnce = async () => ask("get_tool", { tool_name: "safe" });
  const flood = async (): Promise<void> => {
    const waiting = Array.from({ length: 4 }, askOnce);
    for (let times = 0; times < 3; times++) {
      expect((await askOnce())?.headers["CG-Status"]).toBe("429");
      begun.shift()?.();
      await waiting.shift();
      waiting.push(askOnce());
    }
    for (const end of begun.splice(0)) end();
    await Promise.all(waiting);
  };
  await flood();
  expect(lines).toHaveLength(1);
  await flood();
  expect(lines).toHaveLength(2);
});

test("[API-5-5] what nobody foresaw is one sentence for the asker and a line in the log", async () => {
  const lines: unknown[] = [];
  const log = { ...silentLog, error: (message: string, fields?: object) => void lines.push({ message, ...fields }) };
  const getTool = (): Promise<never> => Promise.reject(new TypeError("password=hunter2"));
  const facts = (): Promise<never> => Promise.reject(new ToolplaneError("storage_error", "the database is away"));
  const { ask } = await openGateway({ calls: { facts }, tools: { getTool } }, log);
  const broken = await ask("get_tool", { tool_name: "safe" });
  expect(broken?.headers).toEqual({ "CG-Status": "500", [HEADERS.timestamp]: String(TIME + 500) });
  expect(broken?.payload).not.toContain("hunter2");
  const later = await ask("heartbeat", { lease: "x" }, { [HEADERS.toolCallId]: "c" });
  expect(JSON.parse(later?.payload ?? "")).toEqual({
    error: { code: "storage_error", message: "the database is away", retryable: true },
  });
  expect(lines).toMatchObject([
    { code: "internal_error", cause: expect.stringContaining("hunter2") },
    { code: "storage_error" },
  ]);
});

test("[API-5-5] an answer this server cannot carry is refused with what to do; a leased call comes without its card", () => {
  const means = { nowMs: TIME, maxPayload: 1_000 };
  const body = { lease: { id: "l1" }, card: { text: "x".repeat(2_000) } };
  const refused = planReply({ status: 200, body }, false, means);
  expect(refused.headers["CG-Status"]).toBe("413");
  expect(refused.payload).toMatch(/max_payload of 1000 bytes; ask over HTTP/);
  const leased = planReply({ status: 200, body }, true, means);
  expect([leased.headers["CG-Status"], leased.payload]).toEqual(["200", '{"lease":{"id":"l1"}}']);
  const fits = planReply({ status: 200, body }, true, { nowMs: TIME, maxPayload: undefined });
  expect(JSON.parse(fits.payload)).toEqual(body);
  // Bytes count, not characters.
  expect(planReply({ status: 200, body: "ü".repeat(500) }, false, means).headers["CG-Status"]).toBe("413");
});
