// Time that passes while no process looks at running calls: the plane was killed, or its database was away.

import type { LeasedCall } from "@toolplane/engine";
import { dispatchAndClaim, eventually, meddle, resultFor, startTestEngine, type TestEngine } from "@toolplane/testkit";
import { expect, test } from "vitest";

/** Longer than a lease and than the time limit of the tools. */
const OUTAGE_SECONDS = 60;

const runDuringOutage = async (t: TestEngine): Promise<readonly [safe: LeasedCall, unsafe: LeasedCall]> => {
  const calls = [await dispatchAndClaim(t, "safe"), await dispatchAndClaim(t, "unsafe")] as const;
  await meddle(t, "passForRunning", [OUTAGE_SECONDS]);
  return calls;
};

test("[ENG-expiry-outage] a call whose service fell silent before its time was up is tried again, or its outcome is not known", async () => {
  await using t = await startTestEngine();
  const [safe, unsafe] = await runDuringOutage(t);
  await t.engine.expire();
  expect(await t.engine.calls.get(safe.facts)).toMatchObject({ status: "queued", attempts: 1 });
  expect(await t.engine.calls.get(unsafe.facts)).toMatchObject({ status: "failed", errorCode: "outcome_unknown" });
});

test("[ENG-expiry-outage] a process that comes back waits for services: their results count, and their heartbeats too", async () => {
  await using t = await startTestEngine();
  const [safe, unsafe] = await runDuringOutage(t);
  const back = await t.another({ watchdog: true, leaseSeconds: 600 });
  const queued = await back.calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: {} });
  await meddle(t, "passForQueued", ["safe", 2 * 86_400]);
  // The watchdog has looked: what nobody can speak for any more has ended.
  await eventually(async () => (await back.calls.get({ ...safe.facts, ...queued })).status === "timeout");
  await back.calls.settle(resultFor(safe));
  await back.calls.settle(resultFor(unsafe));
  for (const { facts } of [safe, unsafe])
    expect(await back.calls.get(facts)).toMatchObject({ status: "success", attempts: 1 });
});

test("[ENG-expiry-outage] services that do not speak have lost their calls when that time is over", async () => {
  await using t = await startTestEngine();
  const [safe, unsafe] = await runDuringOutage(t);
  const back = await t.another({ watchdog: true, leaseSeconds: 1 });
  await eventually(async () => (await back.calls.get(unsafe.facts)).errorCode === "outcome_unknown");
  expect(await back.calls.get(safe.facts)).toMatchObject({ status: "queued", attempts: 1 });
});

test("[ENG-lease-lost-count] attempts that failed and were tried again are no lost services", async () => {
  const retry_policy = { attempts: 20, codes: ["upstream_unavailable"], backoff_seconds: 0.01 };
  await using t = await startTestEngine({ tools: [{ name: "flaky", options: { retry: "safe", retry_policy } }] });
  const made = await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "flaky", arguments: {} });
  const claim = async (): Promise<LeasedCall> => {
    await meddle(t, "endBackoff");
    const [call] = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 1 });
    if (call === undefined) throw new RangeError("the call was not offered");
    return call;
  };
  for (let i = 0; i < 6; i += 1) {
    const error = { code: "upstream_unavailable", message: "away" };
    await t.engine.calls.settle({ ...resultFor(await claim()), outcome: { given: { status: "failed", error } } });
  }
  await claim();
  await meddle(t, "lapseLeases");
  await t.engine.expire();
  const view = await t.engine.calls.get({ projectId: t.projectId, toolCallId: made.toolCallId });
  expect(view).toMatchObject({ status: "queued", attempts: 7 });
});
