// What a lone direct call costs in statements, pinned: each waste that was found once has a test of its own.

import type { Engine } from "@toolplane/engine";
import {
  countStatements,
  createStandingClock,
  resultFor,
  startTestEngine,
  type TestEngine,
  watchService,
} from "@toolplane/testkit";
import { expect, test } from "vitest";

const CLAIM = { target: "test", holder: "service", max: 4 } as const;
const WAIT_MS = 60_000;
/** What a call leaves to be done after its answer is counted with the next one. */
const ROUNDS = 5;

const start = (): Promise<TestEngine> => startTestEngine({ clock: createStandingClock() });

/** A service that runs one call after the other, and rests in line between them. */
const serve = (t: TestEngine, engine: Engine = t.engine) => {
  const { atRest } = watchService(engine);
  const stopping = new AbortController();
  const { signal } = stopping;
  const loop = async (): Promise<void> => {
    while (!signal.aborted)
      for (const leased of await engine.calls.claim({ ...CLAIM, projectId: t.projectId }, WAIT_MS, signal))
        await engine.calls.settle(resultFor(leased));
  };
  const ended = loop();
  /** What a call costs depends on whether the service rests when it comes: wait for that first. */
  const callAtRest = async (more: object = {}) => {
    await atRest();
    return t.engine.calls.call({ ...requestOf(t), ...more }, WAIT_MS);
  };
  return {
    call: callAtRest,
    /** Definitions are read, plans are made, and the service has looked at its empty queue. */
    async warm() {
      for (let round = 0; round < 3; round++) expect((await callAtRest()).status).toBe("success");
      await atRest();
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await ended;
    },
  };
};

const requestOf = (t: TestEngine) => ({ projectId: t.projectId, toolName: "safe", arguments: { n: 1 } });

test("[ENG-few-1] where service and caller share a process a lone call takes four statements at most", async () => {
  await using t = await start();
  await using service = serve(t);
  await service.warm();
  const counted = countStatements([t.engine]);
  for (let round = 0; round < ROUNDS; round++)
    expect(await service.call()).toMatchObject({ status: "success", content: { result: { ok: true } } });
  const names = counted.names();
  expect(names.filter((name) => name === "calls.dispatch-fresh")).toHaveLength(ROUNDS);
  expect(names.filter((name) => name === "calls.settle-direct")).toHaveLength(ROUNDS);
  expect(names.length, names.join(" ")).toBeLessThanOrEqual(4 * ROUNDS);
});

test("[ENG-few-2] across processes a lone call takes seven statements at most", async () => {
  await using t = await start();
  const other = await t.another();
  await using service = serve(t, other);
  await service.warm();
  const counted = countStatements([t.engine, other]);
  for (let round = 0; round < ROUNDS; round++) expect((await service.call()).status).toBe("success");
  const names = counted.names();
  expect(names.length, names.join(" ")).toBeLessThanOrEqual(7 * ROUNDS);
});

test("[ENG-few-3] an id that the engine minted is not looked for", async () => {
  await using t = await start();
  const counted = countStatements([t.engine]);
  await t.engine.calls.call(requestOf(t), 0);
  await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: {} });
  expect(counted.names()).not.toContain("calls.find-made");
  await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: {}, toolCallId: "chosen" });
  expect(counted.names()).toContain("calls.find-made");
});

test("[ENG-few-4] a caller that waits where its call settles reads nothing back", async () => {
  await using t = await start();
  await using service = serve(t);
  await service.warm();
  const counted = countStatements([t.engine]);
  await service.call();
  expect(counted.names().filter((name) => /read/.test(name))).toEqual([]);
});

test("[ENG-few-5] an empty queue is looked at once, however often a service comes back within a second", async () => {
  await using t = await start();
  const claim = (waitMs: number) => t.engine.calls.claim({ ...CLAIM, projectId: t.projectId }, waitMs);
  await claim(1);
  const counted = countStatements([t.engine]);
  for (let round = 0; round < 3; round++) await claim(1);
  // The bell of an engine says hello when its connection stands, and tells what was registered before.
  expect(counted.names().filter((name) => name !== "notify")).toEqual([]);
});

test("[ENG-few-6] services of every project look for no work while the calls are for other targets", async () => {
  await using t = await start();
  await using service = serve(t);
  const over = new AbortController();
  const bundled = t.engine.calls.claimAcross({ target: "bundled", holder: "b", max: 4 }, WAIT_MS, over.signal);
  await service.warm();
  const counted = countStatements([t.engine]);
  const began = performance.now();
  for (let round = 0; round < ROUNDS; round++) await service.call();
  // By itself it looks once a second.
  const ownLooks = 1 + Math.floor((performance.now() - began) / 1_000);
  expect(counted.names().filter((name) => name === "calls.projects-with-work").length).toBeLessThanOrEqual(ownLooks);
  over.abort();
  expect(await bundled).toEqual([]);
});

test("[ENG-few-7] a key that is new is not looked for; one that was used is, and answers with its call", async () => {
  await using t = await start();
  await using service = serve(t);
  await service.warm();
  const keyed = () => service.call({ idempotencyKey: "first" });
  const counted = countStatements([t.engine]);
  const first = await keyed();
  const names = counted.names();
  expect(names.filter((name) => name === "calls.dispatch")).toHaveLength(1);
  expect(names).not.toContain("calls.find-keyed");
  expect((await keyed()).toolCallId).toBe(first.toolCallId);
  expect(counted.names()).toContain("calls.find-keyed");
});
