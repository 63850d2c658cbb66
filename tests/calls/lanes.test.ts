// Calls that enter the queue later stand in the lane of their agent when their time comes. One database for all.

import { meddle, resultFor, startTestEngine, type TestEngine, toolUpload, withClient } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

let t: TestEngine;

beforeAll(async () => {
  t = await startTestEngine({ tools: [] });
});
afterAll(() => t[Symbol.asyncDispose]());

const register = (name: string, options: object = {}) =>
  t.engine.tools.upsertTool(t.projectId, toolUpload({ name, target: name, options: { ...options } }));
const ask = (toolName: string, agentId: string, count: number, notBeforeMs?: number) =>
  Promise.all(
    Array.from({ length: count }, () =>
      t.engine.calls.dispatch({ projectId: t.projectId, toolName, arguments: {}, agentId, notBeforeMs }),
    ),
  );
/** What a watchdog does twice a second. */
const sweep = async (): Promise<void> => {
  while ((await t.engine.expire()).looked > 0);
};
const agentsOf = async (target: string, max: number): Promise<readonly string[]> =>
  (await t.engine.calls.claim({ projectId: t.projectId, target, holder: "h", max })).map(({ facts }) => facts.agentId);

test.each([
  ["free", {}],
  ["gated", { concurrency: 9 }],
])(
  "[LIM-fair-2] a thousand calls for later of one agent do not keep another agent's waiting: %s",
  async (name, options) => {
    await register(name, options);
    const later = Date.now() + 3_600_000;
    await ask(name, "sys.many", 30, later);
    await ask(name, "sys.one", 1, later + 1);
    expect(await agentsOf(name, 2)).toEqual([]);
    await meddle(t, "passForQueued", [name, 3_700]);
    await sweep();
    expect(await agentsOf(name, 2)).toEqual(["sys.many", "sys.one"]);
  },
);

test("[LIM-fair-2] nor do calls that were made while their tool was paused", async () => {
  await register("held");
  await t.engine.tools.pauseTool(t.projectId, "held");
  await ask("held", "sys.many", 30);
  await ask("held", "sys.one", 1);
  await t.engine.tools.resumeTool(t.projectId, "held");
  await sweep();
  expect(await agentsOf("held", 2)).toEqual(["sys.many", "sys.one"]);
});

test.each([
  ["retried-at-once", { backoff_seconds: 0 }, {}],
  ["retried-later", { backoff_seconds: 60 }, {}],
  ["retried-gated", { backoff_seconds: 60 }, { concurrency: 99 }],
])("[LIM-fair-2] nor do calls that are tried again: %s", async (name, pause, more) => {
  await register(name, { retry: "safe", retry_policy: { attempts: 9, ...pause }, ...more });
  await ask(name, "sys.many", 30);
  await ask(name, "sys.one", 1);
  const taken = await t.engine.calls.claim({ projectId: t.projectId, target: name, holder: "h", max: 99 });
  const failed = { status: "failed" as const, result: null, error: { code: "upstream_unavailable", message: "busy" } };
  for (const call of taken.toSorted((a, b) => (a.facts.agentId < b.facts.agentId ? -1 : 1)))
    expect(await t.engine.calls.settle(resultFor(call, failed))).toMatchObject({ status: "queued" });
  await meddle(t, "passForQueued", [name, 61]);
  await sweep();
  expect(new Set(await agentsOf(name, 2))).toEqual(new Set(["sys.many", "sys.one"]));
});

test("[LIM-fair-2] calls for another day stay together, so that a claim of today does not walk over them", async () => {
  await register("far");
  const tomorrow = Date.now() + 86_400_000;
  for (const agent of ["a", "b", "c"]) await ask("far", `sys.${agent}`, 1, tomorrow);
  await t.engine.tools.pauseTool(t.projectId, "far");
  await t.engine.tools.resumeTool(t.projectId, "far");
  await sweep();
  const lanes = await withClient(t, (client) =>
    client.query("select distinct lane from state.live_calls where tool_name = 'far'"),
  );
  expect(lanes.rows).toEqual([{ lane: "" }]);
});
