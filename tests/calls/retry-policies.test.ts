// Retry policies where services and the plane meet: a run that is out of time, and a policy that is changed while calls are open.

import type { LeasedCall } from "@toolplane/engine";
import {
  codeOf,
  dispatchAndClaim,
  letPass,
  meddle,
  resultFor,
  startTestEngine,
  type TestEngine,
  toolUpload,
} from "@toolplane/testkit";
import { expect, test } from "vitest";

const POLICY = { attempts: 3, backoff_seconds: 0 };
const OUT_OF_TIME = { status: "timeout", error: { code: "tool_timeout", message: "it took too long" } } as const;
const BUSY = { status: "failed", error: { code: "upstream_unavailable", message: "busy" } } as const;

const startWith = (policy: object): Promise<TestEngine> =>
  startTestEngine({ tools: [{ name: "slow", options: { retry: "safe", retry_policy: policy } }] });

const claim = async (t: TestEngine): Promise<LeasedCall> => {
  const [call] = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 1 });
  return call as LeasedCall;
};

test.each([
  ["that names tool_timeout", { ...POLICY, codes: ["tool_timeout"] }],
  ["without codes", POLICY],
])(
  "[LIM-retry-3] a run out of time is tried again by a policy %s, when its silent service has lost its lease",
  async (_, policy) => {
    await using t = await startWith(policy);
    let call = await dispatchAndClaim(t, "slow");
    const { toolCallId } = call.facts;
    for (let attempt = 1; attempt < 3; attempt++) {
      await letPass(t, toolCallId, "run");
      await letPass(t, toolCallId, "lease");
      await t.engine.expire();
      expect(await t.engine.calls.get(call.facts)).toMatchObject({ status: "queued", attempts: attempt });
      expect(await codeOf(t.engine.calls.settle(resultFor(call)))).toBe("lease_lost");
      call = await claim(t);
    }
    await letPass(t, toolCallId, "run");
    await t.engine.expire();
    const view = await t.engine.calls.get(call.facts);
    expect(view).toMatchObject({ status: "timeout", attempts: 3 });
    const leases = await t.engine.calls.leases(view);
    expect(leases.map(({ attempt, ended, errorCode }) => [attempt, ended, errorCode])).toEqual([
      [1, "failed", "tool_timeout"],
      [2, "failed", "tool_timeout"],
      [3, "timed_out", "tool_timeout"],
    ]);
  },
);

test("[LIM-retry-3] a service that reports the timeout a moment late is heard, and one that only beats is not waited for", async () => {
  await using t = await startWith(POLICY);
  const late = await dispatchAndClaim(t, "slow");
  await letPass(t, late.facts.toolCallId, "run");
  await t.engine.expire();
  expect(await t.engine.calls.get(late.facts)).toMatchObject({ status: "running", leaseId: late.lease.id });
  expect(await t.engine.calls.settle(resultFor(late, OUT_OF_TIME))).toMatchObject({ status: "queued" });
  const beating = await claim(t);
  await meddle(t, "passForRunning", [3_600]);
  await t.engine.calls.heartbeat({ ...beating.facts, leaseId: beating.lease.id });
  await t.engine.expire();
  expect(await t.engine.calls.get(beating.facts)).toMatchObject({ status: "queued", attempts: 2 });
});

test("[LIM-retry-3] a policy for other codes, and a tool without one, leave the timeout as it is", async () => {
  await using t = await startTestEngine({
    tools: [
      { name: "other", options: { retry: "safe", retry_policy: { ...POLICY, codes: ["rate_limited"] } } },
      { name: "none", options: { retry: "safe" } },
    ],
  });
  for (const name of ["other", "none"]) {
    const call = await dispatchAndClaim(t, name);
    await letPass(t, call.facts.toolCallId, "run");
    await t.engine.expire();
    expect(await t.engine.calls.get(call.facts)).toMatchObject({ status: "timeout", attempts: 1 });
  }
});

test("[LIM-retry-4] the policy in force counts for calls that are open: one that was taken away, lowered, added or forbidden", async () => {
  await using t = await startWith(POLICY);
  const change = (options: Record<string, unknown>) =>
    t.engine.tools.upsertTool(t.projectId, toolUpload({ name: "slow", target: "test", options }));
  const failed = async (before: Record<string, unknown>, after: Record<string, unknown>): Promise<string> => {
    await change(before);
    const call = await dispatchAndClaim(t, "slow");
    await change(after);
    return (await t.engine.calls.settle(resultFor(call, BUSY))).status;
  };
  const safe = { retry: "safe" };
  const policy = { ...safe, retry_policy: POLICY };
  expect(await failed(policy, policy)).toBe("queued");
  await claim(t).then((call) => t.engine.calls.settle(resultFor(call)));
  expect(await failed(policy, safe)).toBe("failed");
  expect(await failed(policy, { ...safe, retry_policy: { ...POLICY, attempts: 1 } })).toBe("failed");
  expect(await failed(policy, {})).toBe("failed");
  expect(await failed(safe, policy)).toBe("queued");
});
