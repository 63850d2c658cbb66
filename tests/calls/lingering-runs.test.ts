// A call that another party ends while its service runs it keeps its slot until the service says that the run is over, or its lease lapses.
// Two engines on one database.

import type { Engine, LeasedCall } from "@toolplane/engine";
import { codeOf, meddle, resultFor, startTestEngine, type TestEngine, toolUpload } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

const WAIT_MS = 60_000;
let t: TestEngine;
let other: Engine;

beforeAll(async () => {
  t = await startTestEngine({ tools: [] });
  other = await t.another();
});
afterAll(() => t[Symbol.asyncDispose]());

const register = (name: string, options: object) =>
  t.engine.tools.upsertTool(
    t.projectId,
    toolUpload({ name, target: name, options: options as Record<string, unknown> }),
  );
const ask = (toolName: string, count: number) =>
  Promise.all(
    Array.from({ length: count }, () => t.engine.calls.dispatch({ projectId: t.projectId, toolName, arguments: {} })),
  );
const claim = (target: string, engine: Engine = other, waitMs = 0) =>
  engine.calls.claim({ projectId: t.projectId, target, holder: "worker-1", max: 99 }, waitMs);
const cancel = (call: LeasedCall | undefined) =>
  t.engine.calls.cancel({ projectId: t.projectId, toolCallId: call?.facts.toolCallId ?? "" });
const heldOf = (call: LeasedCall | undefined) => ({
  projectId: t.projectId,
  toolCallId: call?.facts.toolCallId ?? "",
  leaseId: call?.lease.id ?? "",
});
const limitOf = async (toolName: string) =>
  (await other.limits.list(t.projectId)).find((state) => state.toolName === toolName);
const lingering = async (toolName: string) => (await meddle(t, "readLingering", [toolName])).length;

test("[LIM-slot-1] a canceled call keeps its slot until its late result is refused, or it is given back, in any process", async () => {
  await register("slow", { concurrency: 2 });
  await ask("slow", 9);
  const [first, second] = await claim("slow");
  expect(await cancel(first)).toMatchObject({ canceled: true, status: "canceled" });
  await cancel(second);
  expect(await claim("slow")).toEqual([]);
  const waiting = claim("slow", other, WAIT_MS);
  expect(await codeOf(t.engine.calls.settle(resultFor(first as LeasedCall)))).toBe("already_settled");
  expect(await waiting).toHaveLength(1);
  expect(await claim("slow")).toEqual([]);
  // A service without that lease frees nothing.
  expect(await codeOf(t.engine.calls.release({ ...heldOf(second), leaseId: "another" }))).toBe("lease_lost");
  expect(await claim("slow")).toEqual([]);
  expect(await codeOf(t.engine.calls.release(heldOf(second)))).toBe("lease_lost");
  expect(await claim("slow")).toHaveLength(1);
  expect(await codeOf(t.engine.calls.release(heldOf(second)))).toBe("lease_lost");
  expect(await claim("slow")).toEqual([]);
});

test("[LIM-slot-1] a slot that is never given back is free when the lease has lapsed, and a waiting service wakes for it", async () => {
  const dying = await t.another({ leaseSeconds: 0.5 });
  await register("silent", { concurrency: 1 });
  await ask("silent", 2);
  const [call] = await claim("silent", dying);
  await cancel(call);
  expect(await claim("silent", other, WAIT_MS)).toHaveLength(1);
  await t.engine.projects.createProject({ project_id: "whole", title: "Whole", bootstrap: false }, "sys.test");
  await t.engine.projects.patchProject("whole", { limits: { concurrency: 1 } });
  await t.engine.tools.upsertTool("whole", toolUpload({ name: "any", target: "any", options: { concurrency: 5 } }));
  const make = () => t.engine.calls.dispatch({ projectId: "whole", toolName: "any", arguments: {} });
  await Promise.all([make(), make()]);
  const [held] = await dying.calls.claim({ projectId: "whole", target: "any", holder: "h", max: 9 });
  await t.engine.calls.cancel({ projectId: "whole", toolCallId: held?.facts.toolCallId ?? "" });
  expect(await other.calls.claim({ projectId: "whole", target: "any", holder: "h", max: 9 }, WAIT_MS)).toHaveLength(1);
});

test("[LIM-slot-2] a heartbeat is told of the end and keeps the slot, up to the deadline of the run", async () => {
  await register("beating", { concurrency: 1, timeout_seconds: 3_600 });
  await ask("beating", 2);
  const [call] = await claim("beating");
  await cancel(call);
  await meddle(t, "lapseLingering", ["beating"]);
  expect(await other.calls.heartbeat(heldOf(call))).toEqual({ expiresAt: null, cancel: true });
  expect(await claim("beating")).toEqual([]);
  await meddle(t, "endLingering", ["beating"]);
  await other.calls.heartbeat(heldOf(call));
  expect(await claim("beating")).toHaveLength(1);
});

test("[LIM-slot-2] so does a call that is out of time; one whose service is gone, or whose result was written, keeps none", async () => {
  await register("late", { concurrency: 1, retry: "safe" });
  await ask("late", 3);
  const [call] = await claim("late");
  await meddle(t, "passRunDeadlines", ["late"]);
  await t.engine.expire();
  expect((await t.engine.calls.get(heldOf(call))).status).toBe("timeout");
  expect(await claim("late")).toEqual([]);
  await codeOf(t.engine.calls.settle(resultFor(call as LeasedCall)));
  const [second] = await claim("late");
  await meddle(t, "lapseLease", [second?.facts.toolCallId]);
  await cancel(second);
  expect(await claim("late")).toHaveLength(1);
});

test("[LIM-slot-2] limits and `why` show the run, an unlimited tool has none, and lapsed ones are swept by the next", async () => {
  await register("shown", { concurrency: 1, timeout_seconds: 3_600 });
  await ask("shown", 2);
  const [call] = await claim("shown");
  await cancel(call);
  const state = await limitOf("shown");
  expect(state).toMatchObject({ running: 1, lingering: 1, waiting: 1, heldBy: "concurrency" });
  // The service may hold the slot longer than its lease lasts now.
  expect(state?.nextAt).toBeUndefined();
  const [open] = await t.engine.calls.list(t.projectId, { toolName: "shown", status: "queued" });
  const held = await other.calls.heldBack({ projectId: t.projectId, toolCallId: open?.toolCallId ?? "" });
  expect(held?.slots).toMatchObject([{ toolCallId: call?.facts.toolCallId, holder: "worker-1", endedAs: "canceled" }]);
  // At the latest: heartbeats may keep it so long.
  expect(held?.slots[0]?.runDeadline?.getTime()).toBeGreaterThan(Date.now() + 3_000_000);
  await register("free", {});
  await ask("free", 1);
  await cancel((await claim("free"))[0]);
  expect(await lingering("free")).toBe(0);
  await meddle(t, "lapseLingering", ["shown"]);
  const [next] = await claim("shown");
  await cancel(next);
  expect(await lingering("shown")).toBe(1);
});

test("[LIM-break-2] a canceled trial is a trial until its service says that the run is over", async () => {
  const breaker = { failure_rate: 0.5, window_seconds: 600, open_seconds: 0.05 };
  await register("tried", { breaker });
  await ask("tried", 9);
  const failure = { code: "upstream_unavailable", message: "away" };
  for (const call of await t.engine.calls.claim({
    projectId: t.projectId,
    target: "tried",
    holder: "worker-1",
    max: 5,
  }))
    await t.engine.calls.settle(resultFor(call, { status: "failed", result: null, error: failure }));
  const [trial] = await claim("tried", other, WAIT_MS);
  await cancel(trial);
  expect(await claim("tried")).toEqual([]);
  expect(await codeOf(t.engine.calls.release(heldOf(trial)))).toBe("lease_lost");
  expect(await claim("tried", other, WAIT_MS)).toHaveLength(1);
});
