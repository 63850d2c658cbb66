// How many calls start before a queued one, as the queue stands: compared with the order in which they are taken. One database for all.

import type { LeasedCall } from "@toolplane/engine";
import { resultFor, startTestEngine, type TestEngine, toolUpload } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

let t: TestEngine;

beforeAll(async () => {
  t = await startTestEngine({ tools: [] });
});
afterAll(() => t[Symbol.asyncDispose]());

const register = (name: string, options: object, target = name) =>
  t.engine.tools.upsertTool(t.projectId, toolUpload({ name, target, options: options as Record<string, unknown> }));

/** One call for each letter, in the name of the agent of the letter. */
const ask = async (toolName: string, agents: string, more: object = {}): Promise<readonly string[]> => {
  const ids: string[] = [];
  for (const letter of agents) {
    const asked = { projectId: t.projectId, toolName, arguments: {}, agentId: `sys.${letter}`, ...more };
    ids.push((await t.engine.calls.dispatch(asked)).toolCallId);
  }
  return ids;
};

const placeOf = async (toolCallId: string) =>
  (await t.engine.calls.queuePlace({ projectId: t.projectId, toolCallId })) ?? expect.unreachable("it has ended");
const aheadOf = (ids: readonly string[]) => Promise.all(ids.map(async (id) => (await placeOf(id)).ahead));

const settle = (call: LeasedCall) => t.engine.calls.settle(resultFor(call));
const takeOne = (target: string) => t.engine.calls.claim({ projectId: t.projectId, target, holder: "h", max: 1 });

/** The ids in the order in which a service takes them that runs one at a time. */
const drain = async (target: string, running: readonly LeasedCall[] = []): Promise<readonly string[]> => {
  const order: string[] = [];
  for (let taken = running; taken.length > 0 || order.length === 0; ) {
    for (const call of taken) await settle(call);
    taken = await takeOne(target);
    if (taken.length === 0) break;
    order.push(...taken.map(({ facts }) => facts.toolCallId));
  }
  return order;
};

test("[LIM-why-2] of an unlimited tool: those of its agent before it, and of each other agent as many as come in turn", async () => {
  await register("free", {});
  const ids = await ask("free", "aaaaaaaaabaacbb");
  const ahead = await aheadOf(ids);
  const order = await drain("free");
  expect(order).toHaveLength(ids.length);
  for (const [index, id] of ids.entries()) {
    const place = order.indexOf(id);
    expect(place).toBeLessThanOrEqual(ahead[index] ?? -1);
    // Each other agent is at most one call further than it has to be.
    expect(place).toBeGreaterThanOrEqual((ahead[index] ?? 0) - 2);
  }
  await ask("free", "a".repeat(30));
  const [alone] = await ask("free", "z");
  expect(await placeOf(alone ?? "")).toMatchObject({ ahead: 1, line: "agents" });
  await drain("free");
  expect(await placeOf((await ask("free", "aaa"))[2] ?? "")).toMatchObject({ ahead: 2, line: "one" });
});

test("[LIM-why-2] of a limited tool: exactly as many as pass its gate before it", async () => {
  await register("gated", { concurrency: 1 });
  await ask("gated", "b");
  const running = await takeOne("gated");
  const ids = await ask("gated", "aaaaabaabccbdb");
  const ahead = await aheadOf(ids);
  const order = await drain("gated", running);
  expect(ids.map((id) => order.indexOf(id))).toEqual(ahead);
});

test("[LIM-why-2] calls for later, and calls of other tools with a limit of their own, are not ahead", async () => {
  await register("timed", { concurrency: 1 });
  await register("beside", { concurrency: 1 }, "timed");
  await ask("timed", "aa", { notBeforeMs: Date.now() + 3_600_000 });
  await ask("beside", "aaa");
  const [first, second] = await ask("timed", "ab");
  expect(await aheadOf([first ?? "", second ?? ""])).toEqual([0, 1]);
});

test("[LIM-why-2] of a session: those of the session before it; of a pinned call: those with the same pin", async () => {
  await register("spoken", { session: "agent" });
  const spoken = await ask("spoken", "aaba");
  expect(await aheadOf(spoken)).toEqual([0, 1, 0, 2]);
  expect(await placeOf(spoken[3] ?? "")).toMatchObject({ line: "session" });
  await register("strict", { pin: "strict" });
  expect(await aheadOf(await ask("strict", "aab"))).toEqual([0, 1, 2]);
});

test("[LIM-why-2] where the slots of the project are taken, other tools come in turn", async () => {
  const projectId = "slots";
  await t.engine.projects.createProject({ project_id: projectId, title: "Slots", bootstrap: false }, "sys.test");
  for (const name of ["left", "right"])
    await t.engine.tools.upsertTool(projectId, toolUpload({ name, target: name, options: { concurrency: 5 } }));
  await t.engine.projects.patchProject(projectId, { limits: { concurrency: 1 } });
  const make = async (toolName: string) =>
    (await t.engine.calls.dispatch({ projectId, toolName, arguments: {} })).toolCallId;
  await make("left");
  expect(await t.engine.calls.claim({ projectId, target: "left", holder: "h", max: 1 })).toHaveLength(1);
  await Promise.all(Array.from({ length: 9 }, () => make("left")));
  await make("right");
  const toolCallId = await make("right");
  expect(await t.engine.calls.queuePlace({ projectId, toolCallId })).toMatchObject({ ahead: 3, line: "gates" });
});
