// Whatever puts a call back into the queue puts a command on the carrier: its old one may have been acknowledged.

import type { LeasedCall } from "@toolplane/engine";
import { HEADERS, isToolplaneError } from "@toolplane/protocol";
import {
  createMemoryCarrier,
  eventually,
  letPass,
  type MemoryCarrier,
  resultFor,
  startDatabaseProxy,
  startTestEngine,
  type TestEngine,
} from "@toolplane/testkit";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

const SHY = { name: "risky", options: { approval: { policy: "required" }, retry: "safe" } };
const PLAIN = { name: "plain", options: { service: "plain" } };
const SESSION = { name: "mine", options: { session: "agent", retry: "safe" } };

let t: TestEngine;
let carrier: MemoryCarrier;
beforeAll(async () => {
  carrier = createMemoryCarrier({ republishSeconds: 600 });
  t = await startTestEngine({ carrier, tools: [{ name: "safe", options: { retry: "safe" } }, SHY, PLAIN, SESSION] });
});
afterAll(async () => {
  await t[Symbol.asyncDispose]();
});
let before: number;
beforeEach(() => {
  before = carrier.commands.length;
});

const ask = async (toolName: string, more: { readonly notBeforeMs?: number } = {}): Promise<string> =>
  (await t.engine.calls.dispatch({ projectId: t.projectId, toolName, arguments: {}, ...more })).toolCallId;

const claimOne = async (): Promise<LeasedCall> => {
  const [call] = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "here", max: 1 });
  return call as LeasedCall;
};

const commandsOf = (toolCallId: string) =>
  carrier.commands.filter(({ headers }) => headers[HEADERS.toolCallId] === toolCallId);

const untilSent = (toolCallId: string, count: number) => eventually(() => commandsOf(toolCallId).length === count);

/** All of them the same command, each under an id of its own. */
const expectRepeats = (toolCallId: string, count: number): void => {
  const commands = commandsOf(toolCallId);
  expect(commands).toHaveLength(count);
  for (const { messageId: _, ...command } of commands) {
    const { messageId: __, ...first } = commands[0] ?? {};
    expect(command).toEqual(first);
  }
  expect(new Set(commands.map(({ messageId }) => messageId)).size).toBe(count);
};

const finish = async (): Promise<void> => {
  await t.engine.calls.settle(resultFor(await claimOne()));
};

test("[ARCH-6-6] a call that was released", async () => {
  const id = await ask("safe");
  const call = await claimOne();
  await untilSent(id, 1);
  await t.engine.calls.release({ ...call.facts, leaseId: call.lease.id });
  await t.engine.expire();
  await untilSent(id, 2);
  expectRepeats(id, 2);
  // Published once, not at every look.
  await t.engine.expire();
  await finish();
  expectRepeats(id, 2);
});

test("[ARCH-6-6] a call whose lease lapsed, when its turn comes again", async () => {
  const id = await ask("safe");
  await claimOne();
  await untilSent(id, 1);
  await letPass(t, id, "lease");
  await t.engine.expire();
  await untilSent(id, 2);
  expectRepeats(id, 2);
  await eventually(async () => (await claimOne()) !== undefined);
});

test("[ARCH-6-6] a call nobody leased in time, again and again under new ids", async () => {
  const id = await ask("safe");
  await untilSent(id, 1);
  for (const count of [2, 3]) {
    await letPass(t, id, "due");
    await t.engine.expire();
    await untilSent(id, count);
  }
  expectRepeats(id, 3);
  await finish();
});

test("[ARCH-6-6] a claim whose answer was lost: the call is given back, and offered on the carrier", async () => {
  await using proxy = await startDatabaseProxy(t.database.url);
  // The same bus for both: what is published again is carried there by the first of them.
  const far = await t.another({ connection: { connectionString: proxy.url }, carrier });
  const id = await ask("safe");
  await untilSent(id, 1);
  const cuts = [
    proxy.cut({ statement: "calls.claim", moment: "unanswered" }),
    proxy.cut({ statement: "calls.recall-claim", moment: "unsent" }),
  ];
  const lost = far.calls.claim({ projectId: t.projectId, target: "test", holder: "far", max: 1 }).catch(() => []);
  await Promise.all(cuts);
  await lost;
  await eventually(async () => {
    await t.engine.expire();
    return commandsOf(id).length >= 2;
  });
  expectRepeats(id, 2);
  await far.close();
  await finish();
});

test("[ARCH-6-6] calls of a tool that was paused: none while it is, one when it is resumed", async () => {
  await t.engine.tools.pauseTool(t.projectId, "safe");
  const id = await ask("safe");
  await t.engine.expire();
  await ask("mine");
  await eventually(() => carrier.commands.length === before + 1);
  expect(commandsOf(id)).toEqual([]);
  await t.engine.tools.resumeTool(t.projectId, "safe");
  await t.engine.expire();
  await untilSent(id, 1);
  await finish();
  await finish();
});

test("[ARCH-6-6] a plain service's command leaves once: also when its tool was paused, before or after", async () => {
  const early = await ask("plain");
  await untilSent(early, 1);
  await t.engine.tools.pauseTool(t.projectId, "plain");
  const late = await ask("plain");
  await t.engine.tools.resumeTool(t.projectId, "plain");
  await t.engine.expire();
  await untilSent(late, 1);
  for (const id of [early, late]) await letPass(t, id, "due");
  await t.engine.expire();
  const other = await ask("safe");
  await untilSent(other, 1);
  expect([early, late].map((id) => commandsOf(id).length)).toEqual([1, 1]);
  const views = await t.engine.calls.find([early, late].map((toolCallId) => ({ projectId: t.projectId, toolCallId })));
  expect(views.map(({ status }) => status)).toEqual(["queued", "queued"]);
  for (let n = 0; n < 3; n++) await finish();
});

test("[ARCH-6-6] a call that was approved, and none before", async () => {
  const id = await ask("risky");
  await t.engine.expire();
  const other = await ask("safe");
  await untilSent(other, 1);
  expect(commandsOf(id)).toEqual([]);
  await t.engine.approvals.approve({ projectId: t.projectId, toolCallId: id, by: "ann" });
  await untilSent(id, 1);
  await finish();
  await finish();
});

test("[ARCH-6-6] a call for later: its command leaves when it is due, not before, and is not lost with the process", async () => {
  const notBeforeMs = (await t.engine.databaseNow()) + 1_500;
  const id = await ask("safe", { notBeforeMs });
  const now = await ask("safe");
  await untilSent(now, 1);
  expect(commandsOf(id)).toEqual([]);
  await untilSent(id, 1);
  expect(await t.engine.databaseNow()).toBeGreaterThanOrEqual(notBeforeMs);
  await finish();
  await finish();
});

test("[ARCH-6-5] a lease that is refused says how the call stands: queued while its session is busy, then it is free", async () => {
  const [first, second] = [await ask("mine"), await ask("mine")];
  const views = await t.engine.calls.find(
    [first, second].map((toolCallId) => ({ projectId: t.projectId, toolCallId })),
  );
  const requestOf = (toolCallId: string) => {
    const view = views.find((one) => one.toolCallId === toolCallId);
    return {
      projectId: t.projectId,
      toolCallId,
      agentTurnId: view?.agentTurnId ?? "",
      callCardId: view?.callCardId ?? "",
      holder: "far",
    };
  };
  const refusal = async (request: ReturnType<typeof requestOf>): Promise<unknown> => {
    try {
      await t.engine.calls.lease(request);
    } catch (error) {
      return isToolplaneError(error) && error.code === "lease_lost" ? error.detail : error;
    }
    return "leased";
  };
  const held = await t.engine.calls.lease(requestOf(first));
  expect(await refusal(requestOf(second))).toEqual({ status: "queued" });
  expect(await refusal(requestOf(first))).toEqual({ status: "running" });
  expect(await refusal({ ...requestOf(second), callCardId: "another" })).toBeUndefined();
  await t.engine.calls.settle(resultFor(held));
  expect(await refusal(requestOf(first))).toEqual({ status: "success" });
  await t.engine.calls.settle(resultFor(await t.engine.calls.lease(requestOf(second))));
});
