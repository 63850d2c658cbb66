// Calls of many projects that are due at once: one project's do not delay another's.

import { dispatchAndClaim, letPass, startTestEngine, toolUpload } from "@toolplane/testkit";
import { expect, test } from "vitest";

/** Longer than what a sweep of one call looks at together. */
const MANY = 120;

test("[ENG-expiry-turns] calls of one project that fall due together do not keep a dead service's call of another waiting", async () => {
  await using t = await startTestEngine();
  const busy = "busy";
  await t.engine.projects.createProject({ project_id: busy, title: busy, bootstrap: false }, "sys.test");
  await t.engine.tools.upsertTool(busy, toolUpload({ name: "any" }));
  const made = await Promise.all(
    Array.from({ length: MANY }, () => t.engine.calls.dispatch({ projectId: busy, toolName: "any", arguments: {} })),
  );
  for (const { toolCallId } of made) await letPass(t, toolCallId, "queue");
  const dead = await dispatchAndClaim(t, "safe");
  await letPass(t, dead.facts.toolCallId, "lease");
  // Two looks end before it; the third sees both projects.
  for (let sweep = 0; sweep < 4; sweep++) expect(await t.engine.expire(1)).toMatchObject({ looked: 1 });
  expect(await t.engine.calls.get(dead.facts)).toMatchObject({ status: "queued" });
  // Nothing is left out, and the looks begin again with the first.
  let looked = 4;
  for (let more = 1; more > 0; looked += more) more = (await t.engine.expire(10)).looked;
  expect(looked).toBe(MANY + 1);
  const ended = await t.engine.calls.list(busy, { status: "timeout", limit: 200 });
  expect(ended).toHaveLength(MANY);
});

test("[ENG-expiry-turns] of one project, the calls of dead services come before those that waited too long", async () => {
  await using t = await startTestEngine();
  const dead = await dispatchAndClaim(t, "safe");
  for (let n = 0; n < 3; n++) {
    const { toolCallId } = await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: {} });
    await letPass(t, toolCallId, "queue");
  }
  await letPass(t, dead.facts.toolCallId, "lease");
  await t.engine.expire(1);
  expect(await t.engine.calls.get(dead.facts)).toMatchObject({ status: "queued" });
});
