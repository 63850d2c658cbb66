// The history of a call: each time that it was in somebody's hands, and how that ended.

import { systemClock } from "@toolplane/engine";
import type { Log } from "@toolplane/sdk";
import { BUNDLED_TARGET, bundledDefinitions, NO_OFFSET, serveBundled } from "@toolplane/server/internal";
import {
  dispatchAndClaim,
  letPass,
  meddle,
  resultFor,
  startTestEngine,
  type TestEngine,
  withClient,
} from "@toolplane/testkit";
import { expect, test } from "vitest";

const silent: Log = { info: () => {}, warn: () => {}, error: () => {} };

const claimAs = async (t: TestEngine, holder: string) => {
  await meddle(t, "endBackoff");
  const [leased] = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder, max: 1 });
  if (leased === undefined) throw new RangeError("nothing was claimed");
  return leased;
};

const historyOf = async (t: TestEngine, toolCallId: string) => {
  const leases = await t.engine.calls.leases(await t.engine.calls.get({ projectId: t.projectId, toolCallId }));
  for (const { startedAt, endedAt } of leases)
    if (endedAt !== null) expect(startedAt?.getTime()).toBeLessThanOrEqual(endedAt.getTime());
  return leases.map(({ attempt, holder, ended }) => `${attempt} ${holder} ${ended}`);
};

const countLeases = (t: TestEngine): Promise<number> =>
  withClient(
    t,
    async (client) =>
      (await client.query<{ n: number }>("select count(*)::int as n from state.call_leases")).rows[0]?.n ?? -1,
  );

test("[ENG-history] leases that lapsed, were given back and settled are listed in their order", async () => {
  await using t = await startTestEngine();
  const lost = await dispatchAndClaim(t, "safe");
  const { toolCallId } = lost.facts;
  expect(await historyOf(t, toolCallId)).toEqual(["1 holder-1 null"]);
  await letPass(t, toolCallId, "lease");
  await t.engine.expire();
  expect(await historyOf(t, toolCallId)).toEqual(["1 holder-1 lapsed"]);
  const returned = await claimAs(t, "second");
  await t.engine.calls.release({ ...returned.facts, leaseId: returned.lease.id });
  const last = await claimAs(t, "third");
  expect(last.attempt).toBe(2);
  await t.engine.calls.settle(resultFor(last));
  expect(await historyOf(t, toolCallId)).toEqual(["1 holder-1 lapsed", "2 second released", "2 third settled"]);
});

test("[ENG-history] a lease under which a call ended says how", async () => {
  await using t = await startTestEngine();
  const end = async (
    toolName: string,
    work: (call: Awaited<ReturnType<typeof dispatchAndClaim>>) => Promise<unknown>,
  ) => {
    const call = await dispatchAndClaim(t, toolName);
    await work(call);
    await t.engine.expire();
    return historyOf(t, call.facts.toolCallId);
  };
  expect(await end("safe", (call) => t.engine.calls.cancel(call.facts))).toEqual(["1 holder-1 canceled"]);
  expect(await end("safe", (call) => letPass(t, call.facts.toolCallId, "run"))).toEqual(["1 holder-1 timed_out"]);
  expect(await end("unsafe", (call) => letPass(t, call.facts.toolCallId, "lease"))).toEqual(["1 holder-1 lapsed"]);
  const failed = { status: "failed", error: { code: "tool_error", message: "no" } };
  expect(await end("safe", (call) => t.engine.calls.settle(resultFor(call, failed)))).toEqual(["1 holder-1 settled"]);
});

test("[ENG-history] the history goes with the call", async () => {
  await using t = await startTestEngine();
  const lost = await dispatchAndClaim(t, "safe");
  await letPass(t, lost.facts.toolCallId, "lease");
  await t.engine.expire();
  await t.engine.calls.settle(resultFor(await claimAs(t, "second")));
  expect(await countLeases(t)).toBe(1);
  await t.engine.retain({ seconds: 0 });
  expect(await countLeases(t)).toBe(0);
});

test("[ENG-history] a tool that runs after a service was lost sees that it is not the first run", async () => {
  const bundled = { bundledTarget: BUNDLED_TARGET, bundledTools: bundledDefinitions() };
  await using t = await startTestEngine({ tools: [], ...bundled });
  await t.engine.projects.createProject({ project_id: "one", title: "One" }, "sys.test");
  const ask = { projectId: "one", toolName: "fail", arguments: { code: "upstream_unavailable", times: 1 } };
  const { toolCallId } = await t.engine.calls.dispatch(ask);
  const [lost] = await t.engine.calls.claimAcross({ target: BUNDLED_TARGET, holder: "lost", max: 1 });
  expect(lost?.facts.toolCallId).toBe(toolCallId);
  await letPass(t, toolCallId, "lease");
  await t.engine.expire();
  await meddle(t, "endBackoff");
  const means = { clock: systemClock, random: Math.random, log: silent, offset: NO_OFFSET };
  const service = serveBundled({ engine: t.engine, ...means, holder: "second" });
  await t.engine.calls.wait({ projectId: "one", toolCallId }, 60_000);
  await service.stop({ drainMs: 0 });
  const view = await t.engine.calls.get({ projectId: "one", toolCallId });
  const [card] = await t.engine.cards.getCards("one", [view.resultCardId ?? ""]);
  expect(card?.content).toMatchObject({ status: "success", result: { attempts: 2 } });
});
