// A limit or a pause that is set while a call is being written: the statement that writes the call has read its tool before the change, and
// commits after it. The statement is held at its key, which another transaction has written and not committed. One database for all.

import type { Engine } from "@toolplane/engine";
import { MEDDLINGS, meddle, startTestEngine, type TestEngine, toolUpload, until, withClient } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

let t: TestEngine;
let other: Engine;

beforeAll(async () => {
  t = await startTestEngine({ tools: [] });
  other = await t.another();
});
afterAll(() => t[Symbol.asyncDispose]());

const KEY = "held";

const makeProject = async (projectId: string, options: Record<string, unknown> = {}): Promise<void> => {
  await t.engine.projects.createProject({ project_id: projectId, title: "Raced", bootstrap: false }, "sys.test");
  await t.engine.tools.upsertTool(projectId, toolUpload({ name: "raced", target: projectId, options }));
};
const ask = (projectId: string, more: object = {}) =>
  other.calls.dispatch({ projectId, toolName: "raced", arguments: {}, agentId: "sys.anna", ...more });
const claim = (projectId: string) => t.engine.calls.claim({ projectId, target: projectId, holder: "h", max: 99 });

/** Makes two calls, and a third one whose statement began before `change` and ends after it; resolves when `change` is answered. */
const raceWith = (projectId: string, change: () => Promise<unknown>, isChanged: () => Promise<boolean>) =>
  withClient(t, async (client) => {
    await Promise.all([ask(projectId), ask(projectId)]);
    await client.query("begin");
    await client.query(MEDDLINGS.takeCallKey, [projectId, "raced", KEY]);
    const third = ask(projectId, { idempotencyKey: KEY });
    await until("the call waits for its key", async () => (await meddle(t, "findWaiters")).length > 0);
    const changing = change();
    await until("the change is committed", isChanged);
    await client.query("rollback");
    await Promise.all([third, changing]);
  });

const hasLimit = (projectId: string) => async (): Promise<boolean> =>
  (await other.tools.getTool(projectId, "raced"))?.definition.options.concurrency === 1;

test("[LIM-tool-8] a limit holds for a call that was being written when the limit was set, by a person and by a program", async () => {
  await makeProject("patched");
  const setLimits = () => t.engine.tools.setLimits("patched", "raced", { concurrency: 1 });
  await raceWith("patched", setLimits, hasLimit("patched"));
  expect(await claim("patched")).toHaveLength(1);
  await makeProject("registered");
  const upload = toolUpload({ name: "raced", target: "registered", options: { concurrency: 1 } });
  await raceWith("registered", () => t.engine.tools.upsertTool("registered", upload), hasLimit("registered"));
  expect(await claim("registered")).toHaveLength(1);
});

test("[LIM-tool-8] so does the limit of a project", async () => {
  await makeProject("whole");
  await raceWith(
    "whole",
    () => t.engine.projects.patchProject("whole", { limits: { concurrency: 1 } }),
    async () => (await other.projects.getProject("whole"))?.limits.concurrency === 1,
  );
  expect(await claim("whole")).toHaveLength(1);
});

test("[LIM-tool-8] a tool that was paused meanwhile runs nothing", async () => {
  await makeProject("paused");
  await raceWith(
    "paused",
    () => t.engine.tools.pauseTool("paused", "raced"),
    async () => (await other.tools.getTool("paused", "raced"))?.status === "paused",
  );
  expect(await claim("paused")).toEqual([]);
  await t.engine.tools.resumeTool("paused", "raced");
  expect(await claim("paused")).toHaveLength(3);
});

test("[LIM-tool-8] a limit that was not answered is set again: the same limit gates what was left out", async () => {
  await makeProject("again", { concurrency: 1 });
  await Promise.all([ask("again"), ask("again"), ask("again")]);
  await meddle(t, "loseGates", ["again"]);
  await t.engine.tools.setLimits("again", "raced", { concurrency: 1 });
  expect(await claim("again")).toHaveLength(1);
});
