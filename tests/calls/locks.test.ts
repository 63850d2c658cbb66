// Flushes of several engines that meet on the same rows: all lock in one order, so none waits for the other in a circle.
// A deadlock would be survived (the flush runs again item by item), but everybody in it stands still for a second first.

import type { Engine, LeasedCall } from "@toolplane/engine";
import { resultFor, startTestEngine, type TestEngine, withClient } from "@toolplane/testkit";
import { expect, test } from "vitest";

const deadlocks = (t: TestEngine): Promise<number> =>
  withClient(t, async (client) => {
    const { rows } = await client.query<{ n: number }>(
      "select deadlocks::int as n from pg_stat_database where datname = current_database()",
    );
    return rows[0]?.n ?? Number.NaN;
  });

const beat = ({ calls }: Engine, leased: readonly LeasedCall[]): Promise<unknown>[] =>
  leased.map(({ facts, lease }) => calls.heartbeat({ ...facts, leaseId: lease.id }));

test("[ENG-lock-order] heartbeats, results and cancels of the same calls in opposite order never deadlock", async () => {
  await using t = await startTestEngine();
  const other = await t.another();
  const ask = { projectId: t.projectId, toolName: "safe", arguments: {} };
  for (let round = 0; round < 3; round++) {
    await Promise.all(Array.from({ length: 150 }, () => t.engine.calls.dispatch(ask)));
    const forth = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 150 });
    const back = forth.toReversed();
    expect(forth).toHaveLength(150);
    for (let i = 0; i < 3; i++) await Promise.all([...beat(t.engine, forth), ...beat(other, back)]);
    const settled = forth.map((call) => t.engine.calls.settle(resultFor(call)));
    const canceled = back.map(({ facts }) => other.calls.cancel(facts));
    await Promise.allSettled([...settled, ...canceled, ...beat(other, back)]);
  }
  expect(await deadlocks(t)).toBe(0);
});

test("[ENG-lock-order] the same idempotency keys dispatched in opposite order never deadlock, and make each call once", async () => {
  await using t = await startTestEngine();
  const other = await t.another();
  for (let round = 0; round < 8; round++) {
    const keys = Array.from({ length: 150 }, (_, n) => `${round}-${n}`);
    const dispatch = ({ calls }: Engine, idempotencyKey: string) =>
      calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: {}, idempotencyKey });
    const made = await Promise.all([
      ...keys.map((key) => dispatch(t.engine, key)),
      ...keys.toReversed().map((key) => dispatch(other, key)),
    ]);
    expect(new Set(made.map(({ toolCallId }) => toolCallId)).size).toBe(keys.length);
    expect(made.filter(({ idempotent }) => !idempotent)).toHaveLength(keys.length);
  }
  expect(await deadlocks(t)).toBe(0);
});

test("[ENG-heartbeat-race] a heartbeat that meets the cancel of its call is told of it, not that somebody else holds it", async () => {
  await using t = await startTestEngine();
  const other = await t.another();
  const ask = { projectId: t.projectId, toolName: "safe", arguments: {} };
  for (let round = 0; round < 10; round++) {
    await Promise.all(Array.from({ length: 50 }, () => t.engine.calls.dispatch(ask)));
    const leased = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 50 });
    const canceled = leased.map(({ facts }) => t.engine.calls.cancel(facts));
    // The lease was extended just before, or is over: nothing else can have happened to it.
    await expect(Promise.all(beat(other, leased))).resolves.toHaveLength(50);
    await Promise.all(canceled);
  }
});
