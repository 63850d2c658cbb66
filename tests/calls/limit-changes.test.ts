// Limits that change, are taken away and come back; and what a call that never started takes back from them. One database for all.

import type { LeasedCall } from "@toolplane/engine";
import { codeOf, resultFor, startTestEngine, type TestEngine, toolUpload } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

let t: TestEngine;

beforeAll(async () => {
  t = await startTestEngine({ tools: [] });
});
afterAll(() => t[Symbol.asyncDispose]());

const HOURLY = { limit: 1, per_seconds: 3_600 };
const BREAKER = { failure_rate: 0.5, window_seconds: 600, open_seconds: 600 };
const BUSY = { code: "upstream_unavailable", message: "busy" };

const register = (name: string, options: object, projectId = t.projectId) =>
  t.engine.tools.upsertTool(projectId, toolUpload({ name, target: name, options: options as Record<string, unknown> }));
const ask = (toolName: string, count: number, projectId = t.projectId) =>
  Promise.all(Array.from({ length: count }, () => t.engine.calls.dispatch({ projectId, toolName, arguments: {} })));
const claim = (target: string, max = 99, projectId = t.projectId) =>
  t.engine.calls.claim({ projectId, target, holder: "h", max });
const release = ({ facts, lease }: LeasedCall) => t.engine.calls.release({ ...facts, leaseId: lease.id });
const failFive = async (name: string, projectId = t.projectId): Promise<void> => {
  await ask(name, 5, projectId);
  for (const call of await claim(name, 5, projectId))
    await t.engine.calls.settle(resultFor(call, { status: "failed", result: null, error: BUSY }));
};
/** An engine remembers its answer for a while. */
const openBreakers = async () => (await (await t.another()).depths()).openBreakers;
const makeProject = async (projectId: string): Promise<string> => {
  await t.engine.projects.createProject({ project_id: projectId, title: "Limited", bootstrap: false }, "sys.test");
  return projectId;
};

test("[LIM-tool-6] a call that is given back before it started gives back its token and its slot, and never more than it took", async () => {
  await register("given", { rate: { ...HOURLY, burst: 2 } });
  await ask("given", 9);
  const [first, second] = await claim("given");
  expect(await claim("given")).toEqual([]);
  await release(first as LeasedCall);
  const again = await claim("given");
  expect(again).toHaveLength(1);
  expect(await claim("given")).toEqual([]);
  // A bucket holds two: what is given back beyond it is gone.
  await release(second as LeasedCall);
  await release(again[0] as LeasedCall);
  expect(await claim("given")).toHaveLength(2);
  expect(await claim("given")).toEqual([]);
  await register("slotted", { concurrency: 1, rate: HOURLY });
  await ask("slotted", 3);
  for (let loop = 0; loop < 5; loop++) {
    const taken = await claim("slotted");
    expect(taken).toHaveLength(1);
    await release(taken[0] as LeasedCall);
    expect(await codeOf(release(taken[0] as LeasedCall))).toBe("lease_lost");
  }
});

test("[LIM-tool-6] calls of several tools and projects are given back together, and a run that failed keeps its token", async () => {
  const projectId = await makeProject("beside");
  for (const name of ["north", "south"]) {
    await register(name, { rate: HOURLY });
    await register(name, { rate: HOURLY }, projectId);
    await Promise.all([ask(name, 2), ask(name, 2, projectId)]);
  }
  const take = async () =>
    (await Promise.all(["north", "south"].flatMap((name) => [claim(name), claim(name, 99, projectId)]))).flat();
  const taken = await take();
  expect(taken).toHaveLength(4);
  await Promise.all(taken.map(release));
  expect(await take()).toHaveLength(4);
  const retry_policy = { attempts: 3, backoff_seconds: 0 };
  await register("failing", { rate: HOURLY, retry: "safe", retry_policy });
  await ask("failing", 1);
  const [call] = await claim("failing");
  await t.engine.calls.settle(resultFor(call as LeasedCall, { status: "failed", result: null, error: BUSY }));
  expect(await claim("failing")).toEqual([]);
});

test("[LIM-tool-6] calls that were leased before their tool had a rate, or while it had another, give back no token", async () => {
  await register("early", {});
  await ask("early", 6);
  const before = await claim("early", 3);
  expect(before).toHaveLength(3);
  await register("early", { rate: { ...HOURLY, burst: 3 } });
  expect(await claim("early")).toHaveLength(3);
  await Promise.all(before.map(release));
  expect(await claim("early")).toEqual([]);
});

test("[LIM-release-1] a call that is given back again and again keeps the last twenty of these leases", async () => {
  await register("thrown", {});
  const [made] = await ask("thrown", 1);
  for (let loop = 0; loop < 25; loop++) await release((await claim("thrown"))[0] as LeasedCall);
  const view = await t.engine.calls.get({ projectId: t.projectId, toolCallId: made?.toolCallId ?? "" });
  const leases = await t.engine.calls.leases(view);
  expect(leases.map(({ ended }) => ended)).toEqual(Array(20).fill("released"));
  expect(view.attempts).toBe(0);
});

test("[LIM-tool-7] a rate that is raised holds at once, of a tool and of a project: nobody waits for the tokens of the old one", async () => {
  await register("raised", { rate: HOURLY });
  await ask("raised", 2);
  expect(await claim("raised")).toHaveLength(1);
  expect(await claim("raised")).toEqual([]);
  await register("raised", { rate: { limit: 1, per_seconds: 0.01 } });
  expect(
    await t.engine.calls.claim({ projectId: t.projectId, target: "raised", holder: "h", max: 1 }, 60_000),
  ).toHaveLength(1);
  const projectId = await makeProject("quicker");
  await register("any", {}, projectId);
  await t.engine.projects.patchProject(projectId, { limits: { rate: HOURLY } });
  await ask("any", 1, projectId);
  expect(await codeOf(ask("any", 1, projectId))).toBe("rate_limited");
  await t.engine.projects.patchProject(projectId, { limits: { rate: { limit: 1, per_seconds: 0.01 } } });
  await expect.poll(() => codeOf(ask("any", 1, projectId))).toBe("no error");
});

test("[LIM-break-4] a breaker of targets that is taken away forgets; added again it is closed", async () => {
  const projectId = await makeProject("forgetting");
  await register("any", {}, projectId);
  const set = (target_breaker: typeof BREAKER | null) =>
    t.engine.projects.patchProject(projectId, { limits: { target_breaker } });
  await set(BREAKER);
  await failFive("any", projectId);
  expect(await codeOf(ask("any", 1, projectId))).toBe("breaker_open");
  await set({ ...BREAKER, open_seconds: 300 });
  expect(await codeOf(ask("any", 1, projectId))).toBe("breaker_open");
  const before = await openBreakers();
  await set(null);
  expect(await openBreakers()).toBe(before - 1);
  await set(BREAKER);
  await ask("any", 1, projectId);
  expect(await claim("any", 9, projectId)).toHaveLength(1);
});

test("[LIM-break-4] so does a tool's own breaker, by a new definition and by a deletion; one that only changes stays open", async () => {
  await register("own", { breaker: BREAKER });
  await failFive("own");
  await register("own", { breaker: { ...BREAKER, open_seconds: 300 } });
  expect(await codeOf(ask("own", 1))).toBe("breaker_open");
  await register("own", { concurrency: 5 });
  await ask("own", 1);
  await register("own", { concurrency: 5, breaker: BREAKER });
  await ask("own", 1);
  expect(await claim("own")).toHaveLength(2);
  await register("gone", { breaker: BREAKER });
  await failFive("gone");
  await t.engine.tools.deleteTool(t.projectId, "gone");
  await register("gone", { breaker: BREAKER });
  await ask("gone", 1);
  expect(await claim("gone")).toHaveLength(1);
});

test("[LIM-break-4] runs of calls from before count by the definition in force: for a breaker that is new, and not for one that is gone", async () => {
  await register("early", {});
  await ask("early", 6);
  await register("early", { breaker: BREAKER });
  for (const call of await claim("early", 5))
    await t.engine.calls.settle(resultFor(call, { status: "failed", result: null, error: BUSY }));
  expect(await codeOf(ask("early", 1))).toBe("breaker_open");
  await register("late", { breaker: BREAKER });
  await ask("late", 6);
  const running = await claim("late", 5);
  await register("late", {});
  const before = await openBreakers();
  for (const call of running)
    await t.engine.calls.settle(resultFor(call, { status: "failed", result: null, error: BUSY }));
  expect(await openBreakers()).toBe(before);
});
