// A call that may not run yet cannot have a result: whose tool is paused, whose time has not come, whose session is busy or
// that no person has approved. A service that holds no lease can write neither a card nor a result for it, at any door.
// Doors: HTTP, NATS, in process

import { systemClock } from "@toolplane/engine";
import { isToolplaneError, type WireError } from "@toolplane/protocol";
import { createEngineGateway } from "@toolplane/server/internal";
import { fingerprint, meddle, toolUpload } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AimedCall, callHeaders, type GatewayStack, resultCard, startGatewayStack } from "./gateway-stack.ts";

const PROJECT = "demo";
const HOUR_MS = 3_600_000;

let stack: GatewayStack;
let token: string;
beforeAll(async () => {
  stack = await startGatewayStack();
  token = await stack.http.toolToken(["text", "legacy"]);
  const upload = (tool: Parameters<typeof toolUpload>[0]) =>
    stack.http.t.engine.tools.upsertTool(PROJECT, toolUpload(tool));
  await upload({ name: "paused", target: "text", options: { retry: "safe" } });
  await upload({ name: "asked", target: "text", options: { approval: "required" } });
  await upload({ name: "sessioned", target: "text", options: { session: "agent" } });
});
afterAll(() => stack[Symbol.asyncDispose]());

interface Aim extends AimedCall {
  readonly tool: string;
  readonly actor: string;
}

const aimAt = async (tool: string, notBeforeMs?: number): Promise<Aim> => {
  const { calls } = stack.http.t.engine;
  const { toolCallId } = await calls.dispatch({ projectId: PROJECT, toolName: tool, arguments: {}, notBeforeMs });
  const facts = await calls.facts({ projectId: PROJECT, toolCallId });
  const lineage = { ...facts.lineage } as Record<string, string>;
  return {
    toolCallId,
    turnId: facts.agentTurnId,
    cardId: facts.callCardId,
    lease: "",
    lineage,
    tool,
    actor: facts.actorId,
  };
};

type Refusal = WireError | undefined;
interface Door {
  readonly settle: (call: Aim) => Promise<Refusal>;
  readonly put: (call: Aim) => Promise<Refusal>;
  readonly report: (call: Aim) => Promise<Refusal>;
}

const RESULT = { status: "success", result: { ok: true } };
const cardOf = (call: Aim) =>
  resultCard(call, `card-${call.toolCallId}`, { toolName: call.tool, authorId: call.actor });

const post = async (path: string, body: object, headers: Record<string, string> = {}): Promise<Refusal> =>
  (await stack.http.send("POST", `/projects/${PROJECT}${path}`, body, { token, headers })).body.error;

const overHttp: Door = {
  settle: ({ toolCallId }) => post(`/calls/${toolCallId}/result`, RESULT),
  put: (call) => post("/cards", cardOf(call).card),
  report: (call) => post("/reports", cardOf(call).payload, callHeaders(call)),
};

const inExchange: Door = {
  ...overHttp,
  async settle({ toolCallId, actor }) {
    const body = { results: [{ tool_call_id: toolCallId, ...RESULT }] };
    const path = `/projects/${PROJECT}/tool-services/${actor.replace("tool.", "")}/exchange`;
    const answer = (await stack.http.send("POST", path, body, { token })).body as unknown;
    return (answer as { results: readonly { error?: WireError }[] }).results[0]?.error;
  },
};

const overNats: Door = {
  settle: async (call) => (await stack.ask("settle", RESULT, { call })).error,
  put: async (call) => (await stack.ask("put_card", cardOf(call).card, { call })).error,
  report: async (call) => (await stack.ask("report", cardOf(call).payload, { call })).error,
};

const caught = async (work: Promise<unknown>): Promise<Refusal> => {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (isToolplaneError(error)) return error.toWire();
    throw error;
  }
};

const gatewayOf = (actorId: string) => {
  const { engine } = stack.http.t;
  return createEngineGateway({
    engine,
    projectId: PROJECT,
    actorId,
    holder: "a test",
    clock: systemClock,
    random: () => 0,
  });
};

const inProcess: Door = {
  settle({ toolCallId, actor: actorId }) {
    const request = { projectId: PROJECT, toolCallId, actorId, outcome: { given: RESULT } };
    return caught(stack.http.t.engine.calls.settle(request));
  },
  put: (call) => caught(gatewayOf(call.actor).putCard({ card: cardOf(call).card })),
  report({ toolCallId, actor: actorId, ...call }) {
    const { payload } = cardOf({ toolCallId, actor: actorId, ...call });
    return caught(stack.http.t.engine.calls.report({ projectId: PROJECT, toolCallId, actorId, payload }));
  },
};

const statusOf = async ({ toolCallId }: Aim): Promise<string> =>
  (await stack.http.t.engine.calls.get({ projectId: PROJECT, toolCallId })).status;

/** Each door refuses the call's result in one step and its card, and nothing has changed. */
const refuses = async (door: Door, call: Aim): Promise<string> => {
  const before = await fingerprint(stack.http.t);
  const refusals = [await door.settle(call), await door.put(call)];
  expect(refusals.map((refusal) => refusal?.code)).toEqual(["conflict", "conflict"]);
  expect(await fingerprint(stack.http.t)).toEqual(before);
  return refusals[0]?.message ?? "";
};

/** A card that was written while the call could run is not reported while it may not. */
const refusesReport = async (door: Door, call: Aim): Promise<void> => {
  expect((await door.report(call))?.code).toBe("conflict");
  expect(await statusOf(call)).toBe("queued");
};

describe.each([
  ["HTTP", overHttp],
  ["HTTP, many at once", inExchange],
  ["NATS", overNats],
  ["the process itself", inProcess],
] as const)("through %s", (_name, door) => {
  test("[DOOR-2-7] the tool is paused", async () => {
    const call = await aimAt("paused");
    await door.put(call);
    const other = await aimAt("paused");
    await stack.http.t.engine.tools.pauseTool(PROJECT, "paused");
    expect(await refuses(door, other)).toContain("its tool is paused");
    await refusesReport(door, call);
    await stack.http.t.engine.tools.resumeTool(PROJECT, "paused");
    expect(await door.report(call)).toBeUndefined();
    expect(await statusOf(call)).toBe("success");
  });

  test("[DOOR-2-7] its time has not come", async () => {
    expect(await refuses(door, await aimAt("safe", Date.now() + HOUR_MS))).toContain("its time has not come");
  });

  test("[DOOR-2-7] its session runs another call", async () => {
    const running = await aimAt("sessioned");
    const { toolCallId, turnId: agentTurnId, cardId: callCardId } = running;
    const key = { projectId: PROJECT, toolCallId };
    const { lease } = await stack.http.t.engine.calls.lease({ ...key, agentTurnId, callCardId, holder: "somebody" });
    const waiting = await aimAt("sessioned");
    expect(await refuses(door, waiting)).toContain("its session runs another call");
    const end = { ...key, actorId: running.actor, leaseId: lease.id, outcome: { given: RESULT } };
    await stack.http.t.engine.calls.settle(end);
    expect(await door.settle(waiting)).toBeUndefined();
  });

  test("[DOOR-2-7] no person has approved it", async () => {
    expect(await refuses(door, await aimAt("asked"))).toContain("waits for approval");
  });

  test("[DOOR-2-8] a service that never leases reports what nothing forbids to run, in one step and in two", async () => {
    const [one, two] = [await aimAt("safe"), await aimAt("safe")];
    expect(await door.settle(one)).toBeUndefined();
    expect(await door.put(two)).toBeUndefined();
    expect(await door.report(two)).toBeUndefined();
    expect([await statusOf(one), await statusOf(two)]).toEqual(["success", "success"]);
  });
});

/** As a bus beside the database leaves it. */
const markSent = ({ toolCallId }: Aim) => meddle(stack.http.t, "markSent", [toolCallId]);

test("[DOOR-2-7] [DOOR-2-8] a plain service that was sent its command before the tool was paused may report it; no other", async () => {
  const [sent, unsent, later] = [
    await aimAt("plain"),
    await aimAt("plain"),
    await aimAt("plain", Date.now() + HOUR_MS),
  ];
  await markSent(sent);
  await markSent(later);
  await stack.http.t.engine.tools.pauseTool(PROJECT, "plain");
  expect(await inProcess.settle(sent)).toBeUndefined();
  expect((await inProcess.settle(unsent))?.code).toBe("conflict");
  expect((await inProcess.settle(later))?.code).toBe("conflict");
  await stack.http.t.engine.tools.resumeTool(PROJECT, "plain");
  expect((await inProcess.settle(later))?.code).toBe("conflict");
  expect(await inProcess.settle(unsent)).toBeUndefined();
});
