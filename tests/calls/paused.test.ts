// A paused tool's calls wait outside the queue, whichever way they come back to it.

import { dispatchAndClaim, letPass, meddle, startTestEngine, type TestEngine, withClient } from "@toolplane/testkit";
import { expect, test } from "vitest";

const HOUR_MS = 3_600_000;

const offered = async ({ engine, projectId }: TestEngine): Promise<readonly string[]> => {
  const claimed = await engine.calls.claim({ projectId, target: "test", holder: "h2", max: 10 });
  return claimed.map(({ facts }) => facts.toolCallId);
};

/** The backoff of a call that lost its holder is over. */
const letBackoffPass = (t: TestEngine): Promise<unknown> => meddle(t, "endBackoff");

test("[ENG-pause-return] a call given back while its tool is paused is not offered before the resume", async () => {
  await using t = await startTestEngine();
  const call = await dispatchAndClaim(t, "safe");
  await t.engine.tools.pauseTool(t.projectId, "safe");
  await t.engine.calls.release({ ...call.facts, leaseId: call.lease.id });
  expect(await offered(t)).toEqual([]);
  await t.engine.tools.resumeTool(t.projectId, "safe");
  expect(await offered(t)).toEqual([call.facts.toolCallId]);
});

test("[ENG-pause-return] a call whose holder is lost while its tool is paused is not offered before the resume", async () => {
  await using t = await startTestEngine();
  const call = await dispatchAndClaim(t, "safe");
  await t.engine.tools.pauseTool(t.projectId, "safe");
  await letPass(t, call.facts.toolCallId, "lease");
  expect(await t.engine.expire()).toMatchObject({ requeued: 1 });
  await letBackoffPass(t);
  expect(await offered(t)).toEqual([]);
  await t.engine.tools.resumeTool(t.projectId, "safe");
  expect(await offered(t)).toEqual([call.facts.toolCallId]);
});

test("[ENG-pause-return] a call given back in the moment of the resume is found by the watchdog", async () => {
  await using t = await startTestEngine();
  const call = await dispatchAndClaim(t, "safe");
  await t.engine.tools.pauseTool(t.projectId, "safe");
  await t.engine.calls.release({ ...call.facts, leaseId: call.lease.id });
  // The resume committed without having seen the call.
  await meddle(t, "activateTools");
  expect(await offered(t)).toEqual([]);
  const { dueMs } = await withClient(t, async (client) => {
    const { rows } = await client.query<{ dueMs: number }>(
      `select extract(epoch from due_at - now())::float8 * 1000 as "dueMs" from state.calls`,
    );
    return rows[0] ?? { dueMs: Number.POSITIVE_INFINITY };
  });
  expect(dueMs).toBeLessThanOrEqual(5_000);
  await letPass(t, call.facts.toolCallId, "due");
  await t.engine.expire();
  expect(await offered(t)).toEqual([call.facts.toolCallId]);
});

test("[ENG-not-before] a call for later keeps its time through a pause, a resume and the watchdog", async () => {
  await using t = await startTestEngine();
  const { calls, tools } = t.engine;
  const notBeforeMs = Date.now() + HOUR_MS;
  const made = await calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: {}, notBeforeMs });
  await tools.pauseTool(t.projectId, "safe");
  await tools.resumeTool(t.projectId, "safe");
  expect(await t.engine.expire()).toMatchObject({ looked: 1, requeued: 1 });
  expect(await offered(t)).toEqual([]);
  const view = await calls.get({ projectId: t.projectId, toolCallId: made.toolCallId });
  expect(view.availableAt?.getTime()).toBeGreaterThan(notBeforeMs - 1_000);
});
