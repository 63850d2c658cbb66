// Cancel, waiting for the end, and forgetting what is over.

import { dispatchAndClaim, fingerprint, meddle, resultFor, startTestEngine, type TestEngine } from "@toolplane/testkit";
import { expect, test } from "vitest";

test("[ENG-cancel] cancel settles an open call once, queued or running; a settled one keeps its result", async () => {
  await using t = await startTestEngine();
  const queued = await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: {} });
  const key = { projectId: t.projectId, toolCallId: queued.toolCallId };
  expect(await t.engine.calls.cancel({ ...key, reason: "not needed", by: "sys.test" })).toEqual({
    canceled: true,
    status: "canceled",
  });
  expect(await t.engine.calls.cancel(key)).toEqual({ canceled: false, status: "canceled" });
  const view = await t.engine.calls.get(key);
  const [card] = await t.engine.cards.getCards(t.projectId, [view.resultCardId]);
  expect(card?.content).toMatchObject({ status: "canceled", error: { code: "canceled", message: "not needed" } });
  const running = await dispatchAndClaim(t, "unsafe");
  await t.engine.calls.settle(resultFor(running));
  expect(await t.engine.calls.cancel(running.facts)).toEqual({ canceled: false, status: "success" });
});

test("[ENG-cancel-race] cancel and settle at the same moment: exactly one wins", async () => {
  await using t = await startTestEngine();
  for (let i = 0; i < 10; i++) {
    const call = await dispatchAndClaim(t, "safe");
    const [settled, canceled] = await Promise.all([
      t.engine.calls.settle(resultFor(call)).then(
        () => true,
        () => false,
      ),
      t.engine.calls.cancel(call.facts).then((outcome) => outcome.canceled),
    ]);
    expect([settled, canceled].filter(Boolean)).toHaveLength(1);
  }
});

test("[ENG-wait] a caller waits for its result, whichever engine settles", async () => {
  await using t = await startTestEngine();
  const other = await t.another();
  const waiting = t.engine.calls.call({ projectId: t.projectId, toolName: "safe", arguments: {} }, 30_000);
  const [call] = await other.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 1 }, 10_000);
  if (call === undefined) throw new RangeError("one call was expected");
  await other.calls.settle(resultFor(call));
  expect(await waiting).toMatchObject({ status: "success", toolCallId: call.facts.toolCallId });
});

test("[ENG-wait-end] a wait that ends without a result says so and leaves nothing behind", async () => {
  await using t = await startTestEngine();
  const open = await t.engine.calls.call({ projectId: t.projectId, toolName: "safe", arguments: {} }, 0);
  expect(open.status).toBe("queued");
  expect(await t.engine.calls.wait(open, 10_000, AbortSignal.abort())).toBe(false);
  expect(t.engine.calls.watch.waiting()).toBe(0);
});

test("[ENG-drain] closing an engine finishes what was submitted and ends those who wait", async () => {
  await using t = await startTestEngine();
  const other = await t.another();
  const claim = other.calls.claim({ projectId: t.projectId, target: "nothing", holder: "h", max: 1 }, 60_000);
  const made = Promise.all(
    Array.from({ length: 50 }, () => other.calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: {} })),
  );
  await other.close();
  expect(await claim).toEqual([]);
  expect(new Set((await made).map(({ toolCallId }) => toolCallId)).size).toBe(50);
  expect(await t.engine.calls.list(t.projectId, { limit: 500 })).toHaveLength(50);
});

/** Whatever has settled did so forty days ago, and its id says so too. */
const ageSettled = (t: TestEngine) => meddle(t, "ageSettledCalls");

test("[ENG-retention] old settled calls are forgotten with their cards; open and young ones stay", async () => {
  await using t = await startTestEngine();
  const old = await dispatchAndClaim(t, "safe");
  await t.engine.calls.settle(resultFor(old));
  await ageSettled(t);
  const open = await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: {} });
  const young = await dispatchAndClaim(t, "unsafe");
  await t.engine.calls.settle(resultFor(young));
  expect(await t.engine.retain({ seconds: 30 * 86_400 })).toMatchObject({ calls: 1 });
  const left = (await t.engine.calls.list(t.projectId)).map(({ toolCallId }) => toolCallId).sort();
  expect(left).toEqual([open.toolCallId, young.facts.toolCallId].sort());
  expect(await t.engine.cards.getCards(t.projectId, [old.facts.callCardId])).toEqual([]);
  const before = await fingerprint(t);
  expect(await t.engine.retain({ seconds: 30 * 86_400 })).toEqual({
    calls: 0,
    deadLetters: 0,
    sessions: 0,
    turns: 0,
    batches: 0,
    agents: 0,
    tombstones: 0,
  });
  expect(await fingerprint(t)).toBe(before);
});

test("retention passes over the calls of agents' turns, however many, and finds direct calls behind and among them", async () => {
  await using t = await startTestEngine();
  const { engine, projectId } = t;
  const made: string[] = [];
  for (let i = 0; i < 3; i++) {
    const call = await dispatchAndClaim(t, "safe");
    await engine.calls.settle(resultFor(call));
    made.push(call.facts.toolCallId);
  }
  const age = (id: string) => meddle(t, "ageSettledCall", [id]);
  // 1,200 copies of the first call as an agent's, older than it.
  await meddle(t, "copySettledCall", [made[0]]);
  await age(made[0] ?? "");
  const policy = { seconds: 30 * 86_400 };
  expect(await engine.retain(policy)).toMatchObject({ calls: 1 });
  // Its id lies behind those that were passed.
  await age(made[1] ?? "");
  expect(await engine.retain(policy)).toMatchObject({ calls: 1 });
  expect(await engine.retain(policy)).toMatchObject({ calls: 0 });
  expect((await engine.calls.list(projectId, { status: "success", limit: 500 })).length).toBe(500);
});

test("an open direct call, however old, does not make retention look again at what lies before it", async () => {
  let looks = 0;
  await using t = await startTestEngine({
    faults: {
      async at(point) {
        if (point === "retain:before-commit") looks++;
      },
    },
  });
  await t.engine.calls.settle(resultFor(await dispatchAndClaim(t, "safe")));
  await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: {} });
  // 1,200 calls of agents, and behind them the open one; all from long ago.
  await meddle(t, "fillPastBeforeOpenCall");
  const looksOf = async (): Promise<number> => {
    looks = 0;
    await t.engine.retain({ seconds: 30 * 86_400 });
    return looks;
  };
  const first = await looksOf();
  expect(await looksOf()).toBe(first - 2);
});

test.each([365 * 86_400, Number.POSITIVE_INFINITY])(
  "[ENG-retention-project] a project may keep its work longer than the others: %d seconds",
  async (kept) => {
    await using t = await startTestEngine();
    const old = await dispatchAndClaim(t, "safe");
    await t.engine.calls.settle(resultFor(old));
    await ageSettled(t);
    expect(await t.engine.retain({ seconds: 86_400, projects: new Map([[t.projectId, kept]]) })).toMatchObject({
      calls: 0,
    });
  },
);

test("[ENG-stats] depths count what is open, from the live rows alone", async () => {
  await using t = await startTestEngine();
  await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: {} });
  const settled = await dispatchAndClaim(t, "unsafe");
  await t.engine.calls.settle(resultFor(settled));
  const { calls } = await t.engine.depths();
  expect(calls).toMatchObject([{ status: "running", calls: 1, limited: 0 }]);
});
