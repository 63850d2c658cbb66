// The `queue` limit of a project, for calls that arrive at the same moment in several processes.

import type { Engine, LeasedCall } from "@toolplane/engine";
import type { ToolplaneError } from "@toolplane/protocol";
import {
  codeOf,
  createMeeting,
  createStandingClock,
  meddle,
  resultFor,
  startTestEngine,
  type TestEngine,
  toolUpload,
} from "@toolplane/testkit";
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
    const faults = createMeeting("dispatch:before-commit", 4);
    const engines = await Promise.all([0, 1, 2, 3].map(() => t.another({ faults })));
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

/** An engine whose clock moves when the test says so, with a project whose queue has one place. */
const startOnePlace = async (projectId: string, options: object) => {
  const standing = createStandingClock();
  let passedMs = 0;
  const engine = await t.another({ clock: { ...standing, now: () => standing.now() + passedMs } });
  for (const project_id of [projectId, `${projectId}-busy`])
    await engine.projects.createProject({ project_id, title: "Any", bootstrap: false }, "sys.test");
  await engine.tools.upsertTool(projectId, toolUpload({ name: "any", options: options as Record<string, unknown> }));
  await engine.tools.upsertTool(`${projectId}-busy`, toolUpload({ name: "any", options: {} }));
  await engine.projects.patchProject(projectId, { limits: { queue: 1 } });
  const make = (more: object = {}) => engine.calls.dispatch({ projectId, toolName: "any", arguments: {}, ...more });
  return {
    make,
    async endOne(of: string): Promise<void> {
      await make({ projectId: of });
      const [call] = await engine.calls.claim({ projectId: of, target: "test", holder: "h", max: 1 });
      await engine.calls.settle(resultFor(call as LeasedCall));
    },
    async passes(seconds: number): Promise<void> {
      passedMs += seconds * 1_000;
      await meddle(t, "ageLiveCalls", [projectId, seconds]);
    },
    /** What a refused caller is told. */
    async pause(): Promise<unknown> {
      const error = (await make().catch((reason: unknown) => reason)) as ToolplaneError;
      const seconds = error.detail?.retry_after_seconds;
      const message = `the queue of project ${projectId} is full: at most 1 call may wait; there is room when waiting calls start or are canceled`;
      expect(error).toMatchObject({ code: "rate_limited", message: expect.stringContaining(message) });
      expect(error.message).toContain(`; see them with: toolplane calls list --status queued --project ${projectId};`);
      // The command line adds no advice that stands at the end already.
      expect(error.message).toMatch(new RegExp(`; as an estimate, try again in ${seconds} s$`));
      return seconds;
    },
  };
};

test.each([
  ["later", "a call for later", {}, { notBeforeMs: Date.now() + 86_400_000 }],
  ["asked", "a call that a person has to approve", { approval: { policy: "required" } }, {}],
])(
  "[LIM-project-5] project %s: a full queue in which no call can start asks for a long pause: %s",
  async (id, _name, options, more) => {
    const one = await startOnePlace(id, options);
    await one.make(more);
    expect(await one.pause()).toBe(60);
    await one.passes(3);
    // Ends of another project make no place in this queue.
    await one.endOne(`${id}-busy`);
    expect(await one.pause()).toBe(60);
  },
);

test("[LIM-project-5] a full queue that a call left lately asks for as long again, and for a long pause later", async () => {
  const one = await startOnePlace("lately", {});
  await one.endOne("lately");
  await one.make();
  expect(await one.pause()).toBe(1);
  await one.passes(4);
  expect(await one.pause()).toBe(4);
  await one.passes(20);
  expect(await one.pause()).toBe(60);
});

test("[LIM-project-5] calls that fill the queue of an idle project ask for a short pause, until it has been full for long", async () => {
  const one = await startOnePlace("burst", {});
  const asked = await Promise.allSettled(Array.from({ length: 3 }, () => one.make()));
  const refused = asked.flatMap((each) => (each.status === "rejected" ? [each.reason.detail] : []));
  expect(refused).toMatchObject(Array(2).fill({ limit: "queue", retry_after_seconds: 1 }));
  await one.passes(4);
  expect(await one.pause()).toBe(4);
  await one.passes(7);
  expect(await one.pause()).toBe(60);
  await one.passes(60);
  expect(await one.pause()).toBe(60);
});

test("[LIM-project-5] a process that did not see the queue fill up tells the same pause as the one that did", async () => {
  const one = await startOnePlace("shared", {});
  const other = await t.another();
  const pauseThere = () =>
    other.calls.dispatch({ projectId: "shared", toolName: "any", arguments: {} }).catch((error: unknown) => error);
  await one.make();
  await one.passes(4);
  expect(await one.pause()).toBe(4);
  // The clock of the other process does not stand.
  const there = Number(((await pauseThere()) as ToolplaneError).detail?.retry_after_seconds);
  expect([there >= 4, there <= 10]).toEqual([true, true]);
  await one.passes(20);
  expect(await pauseThere()).toMatchObject({ detail: { retry_after_seconds: 60 } });
});
