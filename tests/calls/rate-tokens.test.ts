// The tokens of a project's `rate`: a call that is made takes one, and a request that makes no call takes none.

import type { Engine } from "@toolplane/engine";
import { codeOf, createMeeting, startTestEngine, type TestEngine, toolUpload } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

let t: TestEngine;
let other: Engine;

beforeAll(async () => {
  t = await startTestEngine({ tools: [] });
  other = await t.another();
});
afterAll(() => t[Symbol.asyncDispose]());

/** A project with so many tokens; no token comes back by time while the test runs. */
const startProject = async (projectId: string, tokens: number, more: object = {}) => {
  await t.engine.projects.createProject({ project_id: projectId, title: "Any", bootstrap: false }, "sys.test");
  await t.engine.tools.upsertTool(projectId, toolUpload({ name: "any", options: {} }));
  const rate = { limit: tokens, per_seconds: 604_800 };
  await t.engine.projects.patchProject(projectId, { limits: { rate, ...more } });
  const make = (idempotencyKey?: string, args: object = {}, engine = t.engine) =>
    engine.calls.dispatch({ projectId, toolName: "any", arguments: args, idempotencyKey });
  /** Takes what is left. */
  const tokensLeft = async (): Promise<number> => {
    await t.engine.projects.patchProject(projectId, { limits: { queue: null } });
    for (let taken = 0; ; taken++) {
      const limit = await make().then(
        () => undefined,
        (error) => error.detail?.limit as unknown,
      );
      if (limit === "rate") return taken;
      if (limit === undefined) continue;
      // The engine has not heard yet that the limit of the queue is gone.
      taken--;
    }
  };
  return { make, tokensLeft };
};

test("[LIM-project-6] repeats of a used key and conflicts take no token", async () => {
  const { make, tokensLeft } = await startProject("repeats", 5);
  const first = await make("key");
  for (let again = 0; again < 8; again++) {
    expect((await make("key", {}, again % 2 === 0 ? t.engine : other)).toolCallId).toBe(first.toolCallId);
    expect(await codeOf(make("key", { other: again }))).toBe("idempotency_conflict");
  }
  const together = await Promise.all(Array.from({ length: 4 }, () => make("two")));
  expect(new Set(together.map(({ toolCallId }) => toolCallId)).size).toBe(1);
  expect(await tokensLeft()).toBe(3);
});

test("[LIM-project-6] a call of an agent that may not call takes no token", async () => {
  const { tokensLeft } = await startProject("inactive", 5);
  const ask = { projectId: "inactive", toolName: "any", arguments: {}, agentId: "missing" };
  for (let again = 0; again < 8; again++) expect(await codeOf(t.engine.calls.dispatch(ask))).not.toBe("rate_limited");
  expect(await tokensLeft()).toBe(5);
});

test("[LIM-project-6] calls that find the queue full when they are written give their tokens back", async () => {
  const { make, tokensLeft } = await startProject("full", 100, { queue: 5 });
  // All have been let in by the early count before the first is written.
  const faults = createMeeting("dispatch:before-commit", 4);
  const engines = await Promise.all([0, 1, 2, 3].map(() => t.another({ faults })));
  const asked = await Promise.allSettled(
    engines.flatMap((engine) => [
      make(undefined, {}, engine),
      make(undefined, {}, engine),
      make(undefined, {}, engine),
    ]),
  );
  expect(asked.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
  expect(await tokensLeft()).toBe(95);
});

test("[LIM-project-6] a key that another process uses in between gives its token back", async () => {
  const { make, tokensLeft } = await startProject("raced", 3);
  // The key is used by another process after this one has looked for it.
  const engine = await t.another({
    faults: {
      at: async (point) => {
        if (point === "dispatch:before-commit") await make("raced");
      },
    },
  });
  await make("raced", {}, engine);
  expect(await tokensLeft()).toBe(2);
});
