// Commands that break the protocol, published by a raw client as anybody could who reaches the bus. Nothing runs from their
// bytes, the call is none the worse, and what runs in the end is the command the plane publishes from the call's row.
// Doors: NATS

import type { CallView } from "@toolplane/engine";
import { HEADERS } from "@toolplane/protocol";
import { createRunner, defineTool, systemClock } from "@toolplane/sdk";
import { createNatsToolGateway } from "@toolplane/sdk/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectWire, type WireClient } from "../gateway/wire-client.ts";
import { createRecordingLog, openWorld, type World } from "./world.ts";

let world: World;
let forger: WireClient;
beforeAll(async () => {
  world = await openWorld();
  forger = await connectWire({ port: Number(new URL(world.nats.url).port) });
});
afterAll(async () => {
  await forger[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const counting = (name: string, runs: string[]) =>
  defineTool({
    name,
    description: "Notes its runs",
    parameters: { type: "object", properties: {} } as const,
    // Its service fetches commands: that of a tool that may run twice waits at the gateway.
    retry: "never",
    run: async (_args, { call }) => {
      runs.push(call.toolCallId);
      return { ok: true };
    },
  });

interface Bell {
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Record<string, unknown>;
}

/** The command of a call as the plane published it. */
const bellOf = ({ subject, headers, callCardId, toolName, afterExecution }: CallView): Bell => ({
  subject,
  headers,
  payload: { tool_call_card_id: callCardId, tool_name: toolName, after_execution: afterExecution },
});

const ring = ({ subject, headers, payload }: Bell | (Omit<Bell, "payload"> & { payload: unknown })): void => {
  forger.publish(subject, typeof payload === "string" ? payload : JSON.stringify(payload), { headers });
};

/** Takes away what the plane published, so that nothing but a forged command is left. */
const loseCommands = async (): Promise<void> => {
  await expect.poll(() => world.waitingCommands("bells")).toBeGreaterThan(0);
  await world.link.request(
    { subject: "$JS.API.STREAM.PURGE.cg_cmd_v1r4", headers: {}, payload: "" },
    { timeoutMs: 5_000 },
  );
};

const without = (payload: Record<string, unknown>, key: string) =>
  Object.fromEntries(Object.entries(payload).filter(([name]) => name !== key));

const MALFORMED: readonly (readonly [
  string,
  (bell: Bell) => Omit<Bell, "payload"> & { payload: unknown },
  clause: string,
])[] = [
  ["no after_execution", (bell) => ({ ...bell, payload: without(bell.payload, "after_execution") }), "UTP-C45"],
  ["a strange after_execution", (bell) => ({ ...bell, payload: { ...bell.payload, after_execution: "x" } }), "UTP-C45"],
  ["no tool_name", (bell) => ({ ...bell, payload: without(bell.payload, "tool_name") }), "UTP-C45"],
  ["no card", (bell) => ({ ...bell, payload: without(bell.payload, "tool_call_card_id") }), "UTP-C11"],
  ["inline args", (bell) => ({ ...bell, payload: { ...bell.payload, args: { a: 1 } } }), "UTP-C07"],
  ["inline arguments", (bell) => ({ ...bell, payload: { ...bell.payload, arguments: {} } }), "UTP-C07"],
  ["an inline result", (bell) => ({ ...bell, payload: { ...bell.payload, result: 1 } }), "UTP-C07"],
  ["identity in the payload", (bell) => ({ ...bell, payload: { ...bell.payload, turn_epoch: 0 } }), "UTP-C08"],
  ["a list as payload", (bell) => ({ ...bell, payload: [1] }), "UTP-C13"],
  ["a depth of -1", (bell) => ({ ...bell, headers: { ...bell.headers, [HEADERS.recursionDepth]: "-1" } }), "UTP-C46"],
  ["an epoch of abc", (bell) => ({ ...bell, headers: { ...bell.headers, [HEADERS.turnEpoch]: "abc" } }), "UTP-C46"],
  ["no turn", (bell) => ({ ...bell, headers: { ...bell.headers, [HEADERS.turnId]: "" } }), "UTP-C46"],
  ["another channel", (bell) => ({ ...bell, headers: { ...bell.headers, [HEADERS.channelId]: "x" } }), "UTP-C44"],
  ["another epoch", (bell) => ({ ...bell, headers: { ...bell.headers, [HEADERS.turnEpoch]: "9" } }), "CG-Turn-Epoch"],
  [
    "another depth",
    (bell) => ({ ...bell, headers: { ...bell.headers, [HEADERS.recursionDepth]: "9" } }),
    "CG-Recursion-Depth",
  ],
  ["another agent", (bell) => ({ ...bell, headers: { ...bell.headers, [HEADERS.agentId]: "boss" } }), "CG-Agent-Id"],
  ["another tool", (bell) => ({ ...bell, payload: { ...bell.payload, tool_name: "other" } }), "tool_name"],
];

test("[DOOR-3-1] nothing runs from a malformed command: it is terminated, and the call runs from its row", async () => {
  const runs: string[] = [];
  const log = createRecordingLog();
  const tool = counting("bells", runs);
  await (await world.serve([tool], { target: "bells" })).stop();
  const ids = await Promise.all(MALFORMED.map(() => world.dispatch("bells")));
  await loseCommands();
  const views = await Promise.all(ids.map((toolCallId) => world.engine.calls.get({ projectId: "demo", toolCallId })));
  for (const [index, [, spoil]] of MALFORMED.entries()) ring(spoil(bellOf(views[index] as CallView)));
  await forger.flush();
  await using _serving = await world.serve([tool], { target: "bells", log });
  const ended = await Promise.all(ids.map((id) => world.until(id, "success")));
  expect(runs.sort()).toEqual([...ids].sort());
  // Each was published a second time, from its row, before anybody ran it.
  const unsaid = MALFORMED.filter((_, index) => (ended[index]?.publishes ?? 0) < 2).map(([what]) => what);
  expect(unsaid).toEqual([]);
  // A call may end by its second command before its malformed one is read.
  await expect.poll(() => world.waitingCommands("bells")).toBe(0);
  const silent = () => MALFORMED.filter(([, , clause]) => !log.text().includes(clause)).map(([what]) => what);
  await expect.poll(silent).toEqual([]);
});

test("[DOOR-3-2] many malformed commands publish nothing, and hurt neither their call nor others", async () => {
  const runs: string[] = [];
  const tool = counting("flooded", runs);
  await using _serving = await world.serve([tool], { target: "flooded" });
  const sent = forger.subscribe("cg.v1r4.demo.public.cmd.tool.flooded.>");
  await forger.flush();
  const later = await world.engine.calls.dispatch({
    projectId: "demo",
    toolName: "flooded",
    arguments: {},
    notBeforeMs: Date.now() + 3_600_000,
  });
  const view = await world.engine.calls.get({ projectId: "demo", toolCallId: later.toolCallId });
  const bell = bellOf(view);
  for (let index = 0; index < 50; index += 1) ring({ ...bell, payload: without(bell.payload, "after_execution") });
  await forger.flush();
  expect(await world.call("flooded")).toMatchObject({ status: "success" });
  await expect.poll(() => world.waitingCommands("flooded")).toBe(0);
  // The forged ones and the command of the other call; nothing of the plane's about this one.
  expect(sent.filter(({ headers }) => headers[HEADERS.toolCallId] === later.toolCallId)).toHaveLength(50);
  expect(await world.engine.calls.get({ projectId: "demo", toolCallId: later.toolCallId })).toMatchObject({
    status: "queued",
    attempts: 0,
    publishes: view.publishes,
  });
  expect(runs).toHaveLength(1);
});

test("[DOOR-3-3] a plain service answers a malformed command with a failed result, bad_request, and does not run it", async () => {
  const { engine, link } = world;
  await engine.tools.upsertTool("demo", {
    tool_name: "legacy_count",
    description: "Served without leases",
    target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.legacy.legacy_count",
    after_execution: "suspend",
    parameters: { type: "object", properties: {} },
    options: { service: "plain" },
  });
  let runs = 0;
  const log = createRecordingLog();
  const gateway = createNatsToolGateway({
    link,
    projectId: "demo",
    actor: "tool.legacy",
    clock: systemClock,
    random: Math.random,
    ids: { traceId: () => crypto.randomUUID(), spanId: () => "b".repeat(16) },
    log,
  });
  const runner = createRunner({
    gateway,
    target: "legacy",
    mode: "two-step",
    log,
    executor: {
      find: () => undefined,
      execute: async () => {
        runs += 1;
        return {};
      },
    },
  });
  for (const spoil of [
    (payload: Record<string, unknown>) => ({ ...payload, args: {} }),
    (payload: Record<string, unknown>) => ({ ...payload, agent_id: "boss" }),
    (payload: Record<string, unknown>) => without(payload, "after_execution"),
    (payload: Record<string, unknown>) => without(payload, "tool_name"),
  ]) {
    const toolCallId = await world.dispatch("legacy_count");
    const view = await engine.calls.get({ projectId: "demo", toolCallId });
    const { subject, headers, payload } = bellOf(view);
    await runner.handle({ subject, headers, payload: spoil(payload) });
    expect(await engine.calls.get({ projectId: "demo", toolCallId })).toMatchObject({
      status: "failed",
      errorCode: "bad_request",
    });
  }
  expect(runs).toBe(0);
});
