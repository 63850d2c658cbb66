// The places of the plane are shared: a project that fills them does not shut out the others. Counted by the watchdog, once a second.

import type { Engine } from "@toolplane/engine";
import { startTestEngine, type TestEngine, toolUpload } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

const PLACES = 40;
const PATIENCE = { timeout: 30_000 };
let t: TestEngine;
let other: Engine;

beforeAll(async () => {
  t = await startTestEngine({ tools: [], watchdog: true, maxOpenCalls: PLACES });
  other = await t.another();
  for (const projectId of ["greedy", "modest"]) {
    await t.engine.projects.createProject({ project_id: projectId, title: projectId, bootstrap: false }, "sys.test");
    await t.engine.tools.upsertTool(projectId, toolUpload({ name: "any" }));
  }
});
afterAll(() => t[Symbol.asyncDispose]());

const make = (projectId: string, more: object = {}, engine: Engine = t.engine) =>
  engine.calls.dispatch({ projectId, toolName: "any", arguments: {}, ...more });

const tomorrow = () => Date.now() + 86_400_000;

/** In each process, until it refuses. */
const fill = async (projectId: string): Promise<void> => {
  for (const engine of [t.engine, other])
    await expect
      .poll(
        () =>
          make(projectId, { notBeforeMs: tomorrow() }, engine).then(
            () => "made",
            ({ code }) => code,
          ),
        PATIENCE,
      )
      .toBe("rate_limited");
};

test("[LIM-plane-1] a project above its share is refused in every process and told why; the others go on", async () => {
  const before = await make("greedy", { idempotencyKey: "used" });
  await Promise.all(Array.from({ length: PLACES - 1 }, () => make("greedy", { notBeforeMs: tomorrow() })));
  await fill("greedy");
  for (const engine of [t.engine, other]) expect((await make("modest", {}, engine)).toolCallId).toBeDefined();
  const refused = await make("greedy").catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: "rate_limited",
    message: expect.stringMatching(
      /^project greedy has \d+ open calls, and its share of the plane's 40 places is \d+ now/,
    ),
    detail: { limit: "plane", retry_after_seconds: expect.any(Number) },
  });
  // A used key answers all the same.
  expect((await make("greedy", { idempotencyKey: "used" })).toolCallId).toBe(before.toolCallId);
  expect(await t.engine.limits.openCalls("greedy")).toMatchObject({ open: PLACES, places: PLACES });
});
