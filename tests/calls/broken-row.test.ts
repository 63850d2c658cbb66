// One call that cannot be ended (its row was damaged, a rule changed under it) must not keep the watchdogs from the others.

import { dispatchAndClaim, letPass, meddle, startTestEngine } from "@toolplane/testkit";
import { expect, test } from "vitest";

test("[ENG-expiry-isolated] a due call that cannot be ended is put off and logged; all others end in time", async () => {
  const errors: unknown[] = [];
  const note = (_: string, details?: unknown): void => {
    errors.push(details);
  };
  await using t = await startTestEngine({ log: { info: () => {}, warn: () => {}, error: note } });
  const broken = await dispatchAndClaim(t, "unsafe");
  const others = [await dispatchAndClaim(t, "unsafe"), await dispatchAndClaim(t, "unsafe")];
  const brokenId = broken.facts.toolCallId;
  await meddle(t, "breakCall", [brokenId]);
  // The broken one is the longest due, so every sweep meets it first.
  for (const call of [broken, ...others]) await letPass(t, call.facts.toolCallId, "lease");
  expect(await t.engine.expire(2)).toMatchObject({ looked: 2, settled: 1 });
  expect(errors).toEqual([{ projectId: t.projectId, toolCallId: brokenId }]);
  expect(await t.engine.expire(2)).toMatchObject({ looked: 1, settled: 1 });
  for (const call of others) expect(await t.engine.calls.get(call.facts)).toMatchObject({ status: "failed" });
  expect(await t.engine.expire(2)).toMatchObject({ looked: 0 });
});

test("[ENG-expiry-isolated] a written result card nobody can read is not a result, and its call ends without it", async () => {
  await using t = await startTestEngine();
  const { facts } = await dispatchAndClaim(t, "unsafe");
  await meddle(t, "addOddResultCard", [facts.projectId, facts.toolCallId]);
  await letPass(t, facts.toolCallId, "lease");
  expect(await t.engine.expire()).toMatchObject({ settled: 1 });
  expect(await t.engine.calls.get(facts)).toMatchObject({ status: "failed", errorCode: "outcome_unknown" });
});
