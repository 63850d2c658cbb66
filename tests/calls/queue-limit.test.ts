// The `queue` limit of a project, for calls that arrive at the same moment in several processes.

import type { Engine } from "@toolplane/engine";
import { codeOf, startTestEngine, type TestEngine, toolUpload } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

let t: TestEngine;

beforeAll(async () => {
  t = await startTestEngine({ tools: [] });
});
afterAll(() => t[Symbol.asyncDispose]());

test.each([
  ["queued", {}],
  ["awaiting_approval", { approval: { policy: "required" } }],
])(
  "[LIM-project-4] calls that arrive at the same moment, in several processes, do not pass the queue limit: %s",
  async (waiting, options) => {
    const projectId = `crowded-${waiting.length}`;
    const QUEUE = 5;
    await t.engine.projects.createProject({ project_id: projectId, title: "Crowded", bootstrap: false }, "sys.test");
    await t.engine.tools.upsertTool(projectId, toolUpload({ name: "any", options }));
    await t.engine.projects.patchProject(projectId, { limits: { queue: QUEUE } });
    // All have been let in by the early count before the first is written.
    let arrived = 0;
    const all = Promise.withResolvers<void>();
    const at = async (point: string): Promise<void> => {
      if (point !== "dispatch:before-commit" || arrived === 4) return;
      if (++arrived === 4) all.resolve();
      await all.promise;
    };
    const engines = await Promise.all([0, 1, 2, 3].map(() => t.another({ faults: { at } })));
    const make = (engine: Engine, idempotencyKey?: string) =>
      engine.calls.dispatch({ projectId, toolName: "any", arguments: {}, idempotencyKey });
    const asked = await Promise.allSettled(
      engines.flatMap((engine, index) => [make(engine, `key ${index}`), make(engine), make(engine)]),
    );
    const made = asked.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(made).toHaveLength(QUEUE);
    expect(await t.engine.calls.list(projectId, { status: waiting })).toHaveLength(QUEUE);
    for (const one of asked)
      if (one.status === "rejected")
        expect(one.reason).toMatchObject({ code: "rate_limited", detail: { limit: "queue", queue: QUEUE } });
    // The early count, of a request that comes alone, counts the same calls.
    expect(await codeOf(make(t.engine))).toBe("rate_limited");
    // A used key answers all the same.
    const index = [0, 1, 2, 3].find((n) => asked[n * 3]?.status === "fulfilled") ?? -1;
    const used = asked[index * 3];
    expect(used?.status === "fulfilled" ? (await make(t.engine, `key ${index}`)).toolCallId : "").toBe(
      used?.status === "fulfilled" ? used.value.toolCallId : "none",
    );
  },
);
