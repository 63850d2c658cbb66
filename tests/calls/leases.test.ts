import { codeOf, dispatchAndClaim, fingerprint, letPass, resultFor, startTestEngine } from "@toolplane/testkit";
import { expect, test } from "vitest";

test("[INV-I6-fence] while a lease lives nobody else can take, keep, give back or settle the call", async () => {
  await using t = await startTestEngine();
  const { calls } = t.engine;
  const call = await dispatchAndClaim(t, "unsafe");
  const stranger = { ...resultFor(call), leaseId: "another-lease" };
  const before = await fingerprint(t);
  expect(await calls.claim({ projectId: t.projectId, target: "test", holder: "h2", max: 5 })).toEqual([]);
  expect(await codeOf(calls.heartbeat(stranger))).toBe("lease_lost");
  expect(await codeOf(calls.release(stranger))).toBe("lease_lost");
  expect(await codeOf(calls.settle(stranger))).toBe("lease_lost");
  expect(await codeOf(calls.settle({ ...resultFor(call), leaseId: undefined }))).toBe("lease_lost");
  expect(await fingerprint(t)).toBe(before);
});

test("[INV-I6-takeover] [UTP-8.6-4] a lapsed lease of a safe tool: offered again, and the late zombie is refused", async () => {
  await using t = await startTestEngine();
  const { calls } = t.engine;
  const zombie = await dispatchAndClaim(t, "safe");
  await letPass(t, zombie.facts.toolCallId, "lease");
  expect(await t.engine.expire()).toMatchObject({ looked: 1, requeued: 1, settled: 0 });
  await expect(calls.settle(resultFor(zombie))).rejects.toMatchObject({
    code: "lease_lost",
    message: expect.stringContaining("is gone; no service holds it"),
  });
  const [taken] = await calls.claim({ projectId: t.projectId, target: "test", holder: "h2", max: 5 }, 5_000);
  expect(taken).toMatchObject({ attempt: 2, facts: { toolCallId: zombie.facts.toolCallId } });
  if (taken === undefined) return;
  expect(await codeOf(calls.settle(resultFor(zombie)))).toBe("lease_lost");
  expect(await calls.settle(resultFor(taken))).toMatchObject({ status: "success" });
  expect(await codeOf(calls.settle(resultFor(zombie, { result: { late: true } })))).toBe("already_settled");
});

test("[INV-I1-unknown] a lapsed lease of an unsafe tool settles outcome_unknown and is never offered again", async () => {
  await using t = await startTestEngine();
  const { calls, deadLetters } = t.engine;
  const call = await dispatchAndClaim(t, "unsafe");
  await letPass(t, call.facts.toolCallId, "lease");
  await t.engine.expire();
  expect(await calls.get(call.facts)).toMatchObject({
    status: "failed",
    errorCode: "outcome_unknown",
    settledBy: "worker.watchdog",
  });
  expect(await calls.claim({ projectId: t.projectId, target: "test", holder: "h2", max: 5 })).toEqual([]);
  expect(await codeOf(calls.settle(resultFor(call)))).toBe("already_settled");
  expect(await deadLetters.list(t.projectId)).toMatchObject([
    { code: "outcome_unknown", toolCallId: call.facts.toolCallId },
  ]);
});

test("[ENG-lease-heartbeat] a heartbeat extends the lease; after a cancel it says so", async () => {
  await using t = await startTestEngine();
  const { calls } = t.engine;
  const call = await dispatchAndClaim(t, "safe");
  await letPass(t, call.facts.toolCallId, "lease");
  const beat = await calls.heartbeat({ ...call.facts, leaseId: call.lease.id });
  expect(beat.cancel).toBe(false);
  expect(beat.expiresAt?.getTime()).toBeGreaterThan(call.lease.expiresAt.getTime() - 1_000);
  expect(await t.engine.expire()).toMatchObject({ looked: 0 });
  await calls.cancel({ ...call.facts, reason: "changed my mind" });
  expect(await calls.heartbeat({ ...call.facts, leaseId: call.lease.id })).toEqual({ expiresAt: null, cancel: true });
});

test("[ENG-lease-release] a released call is offered again at once and the attempt does not count", async () => {
  await using t = await startTestEngine();
  const { calls } = t.engine;
  const call = await dispatchAndClaim(t, "unsafe");
  await calls.release({ ...call.facts, leaseId: call.lease.id });
  const [again] = await calls.claim({ projectId: t.projectId, target: "test", holder: "h2", max: 1 });
  expect(again).toMatchObject({ attempt: 1, facts: { toolCallId: call.facts.toolCallId } });
  expect(again?.lease.id).not.toBe(call.lease.id);
  expect(await codeOf(calls.settle(resultFor(call)))).toBe("lease_lost");
});

test("[ENG-lease-attempts] a safe call that keeps losing its service ends as a dead letter, which can be replayed once", async () => {
  await using t = await startTestEngine({ maxAttempts: 2 });
  const { calls, deadLetters } = t.engine;
  const first = await dispatchAndClaim(t, "safe", { n: 7 });
  await letPass(t, first.facts.toolCallId, "lease");
  await t.engine.expire();
  await calls.claim({ projectId: t.projectId, target: "test", holder: "h2", max: 1 }, 5_000);
  await letPass(t, first.facts.toolCallId, "lease");
  expect(await t.engine.expire()).toMatchObject({ settled: 1, buried: 1 });
  expect(await calls.get(first.facts)).toMatchObject({ status: "failed", errorCode: "upstream_unavailable" });

  const [letter] = await deadLetters.list(t.projectId);
  const replayed = await deadLetters.replay(t.projectId, letter?.deadLetterId ?? "");
  expect(await deadLetters.replay(t.projectId, letter?.deadLetterId ?? "")).toEqual(replayed);
  const [leased] = await calls.claim({ projectId: t.projectId, target: "test", holder: "h3", max: 5 });
  expect(leased?.facts.toolCallId).toBe(replayed.replayedAs);
  expect(JSON.parse(leased?.cardBody ?? "{}").content.arguments).toEqual({ n: 7 });
  expect(await calls.get({ projectId: t.projectId, toolCallId: replayed.replayedAs })).toMatchObject({
    retryOf: first.facts.toolCallId,
  });
});

test("[ENG-claim-once] two engines claim at the same time: every call goes to one holder", async () => {
  await using t = await startTestEngine();
  const other = await t.another();
  const made = await Promise.all(
    Array.from({ length: 60 }, () =>
      t.engine.calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: {} }),
    ),
  );
  const claim = (engine: typeof other, holder: string) =>
    engine.calls.claim({ projectId: t.projectId, target: "test", holder, max: 40 });
  const rounds = await Promise.all([claim(t.engine, "a"), claim(other, "b"), claim(t.engine, "c"), claim(other, "d")]);
  const taken = rounds.flat().map(({ facts }) => facts.toolCallId);
  expect(taken.length).toBe(made.length);
  expect(new Set(taken).size).toBe(made.length);
});

test("[ENG-claim-wait] a claim that waits gets what is dispatched later, from another engine too", async () => {
  await using t = await startTestEngine();
  const other = await t.another();
  const waiting = [1, 2, 3].map((n) =>
    t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: `h${n}`, max: 1 }, 20_000),
  );
  for (let i = 0; i < 3; i++)
    await other.calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: { i } });
  const got = (await Promise.all(waiting)).flat();
  expect(new Set(got.map(({ facts }) => facts.toolCallId)).size).toBe(3);
});

test("[ENG-lease-by-id] a command that names the call's own turn and card leases it; another one does not", async () => {
  await using t = await startTestEngine();
  const made = await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "unsafe", arguments: {} });
  const key = {
    projectId: t.projectId,
    toolCallId: made.toolCallId,
    agentTurnId: made.agentTurnId,
    callCardId: made.callCardId,
  };
  expect(await codeOf(t.engine.calls.lease({ ...key, callCardId: "other", holder: "h" }))).toBe("lease_lost");
  expect(await codeOf(t.engine.calls.lease({ ...key, agentTurnId: "other", holder: "h" }))).toBe("lease_lost");
  const leased = await t.engine.calls.lease({ ...key, holder: "h" });
  expect(leased.facts.toolCallId).toBe(made.toolCallId);
  expect(await codeOf(t.engine.calls.lease({ ...key, holder: "h2" }))).toBe("lease_lost");
});

test("[ENG-lease-ticket] asked again under the same ticket, the lease is the same; no other ticket has it, and it ends with the lease", async () => {
  await using t = await startTestEngine();
  const made = await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "unsafe", arguments: {} });
  const { toolCallId, agentTurnId, callCardId } = made;
  const request = { projectId: t.projectId, toolCallId, agentTurnId, callCardId, holder: "h", ticket: "mine" };
  const first = await t.engine.calls.lease(request);
  const again = await t.engine.calls.lease(request);
  expect(again).toEqual(first);
  expect(await codeOf(t.engine.calls.lease({ ...request, agentTurnId: "other" }))).toBe("lease_lost");
  expect(await codeOf(t.engine.calls.lease({ ...request, ticket: "another" }))).toBe("lease_lost");
  expect(await codeOf(t.engine.calls.lease({ ...request, ticket: undefined }))).toBe("lease_lost");
  // The same ticket for another call is another lease.
  const second = await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "unsafe", arguments: { n: 2 } });
  const other = await t.engine.calls.lease({ ...request, ...second, ticket: "mine" });
  expect(other.lease.id).not.toBe(first.lease.id);
  await t.engine.calls.settle(resultFor(first));
  expect(await codeOf(t.engine.calls.lease(request))).toBe("lease_lost");
});

test("[ENG-lease-ticket] a call of a tool with a rate runs once for each lease, also when the lease is asked for again", async () => {
  const options = { retry: "safe", concurrency: 5 };
  const rate = { limit: 100, per_seconds: 1 };
  await using t = await startTestEngine({
    tools: [
      { name: "rated", options: { ...options, rate } },
      { name: "slotted", options },
    ],
  });
  const onceOf = async (toolName: string): Promise<readonly boolean[]> => {
    const made = await t.engine.calls.dispatch({ projectId: t.projectId, toolName, arguments: {} });
    const request = { ...made, projectId: t.projectId, holder: "h", ticket: "mine" };
    return [(await t.engine.calls.lease(request)).once, (await t.engine.calls.lease(request)).once];
  };
  expect(await onceOf("rated")).toEqual([true, true]);
  expect(await onceOf("slotted")).toEqual([false, false]);
});

test("[ENG-not-before] a call for later is not offered now", async () => {
  await using t = await startTestEngine();
  await t.engine.calls.dispatch({
    projectId: t.projectId,
    toolName: "safe",
    arguments: {},
    notBeforeMs: Date.now() + 3_600_000,
  });
  expect(await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 5 })).toEqual([]);
});
