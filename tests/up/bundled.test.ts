// The bundled tools, served by the sdk's runner through the engine's own gateway, in every project.

import { type Engine, isSettled, systemClock } from "@toolplane/engine";
import type { JsonValue } from "@toolplane/protocol";
import type { Log, ToolService } from "@toolplane/sdk";
import { BUNDLED_TARGET, bundledDefinitions, NO_OFFSET, serveBundled } from "@toolplane/server";
import { startTestEngine, until } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";

const silent: Log = { info: () => {}, warn: () => {}, error: () => {} };
const PATIENCE_MS = 60_000;

interface World extends AsyncDisposable {
  readonly engine: Engine;
  readonly service: ToolService;
}

const openWorld = async (): Promise<World> => {
  const test = await startTestEngine({ tools: [], bundledTarget: BUNDLED_TARGET, bundledTools: bundledDefinitions() });
  const { engine } = test;
  for (const projectId of ["one", "two"])
    await engine.projects.createProject({ project_id: projectId, title: projectId }, "sys.test");
  const service = serveBundled({
    engine,
    clock: systemClock,
    random: Math.random,
    log: silent,
    offset: NO_OFFSET,
    holder: "bundled tools",
  });
  return {
    engine,
    service,
    async [Symbol.asyncDispose]() {
      await service.stop({ drainMs: 0 });
      await test[Symbol.asyncDispose]();
    },
  };
};

const call = async (engine: Engine, toolName: string, args: object, projectId = "one") => {
  const view = await engine.calls.call({ projectId, toolName, arguments: args }, PATIENCE_MS);
  const [card] = await engine.cards.getCards(projectId, [view.resultCardId ?? ""]);
  const content = card?.content as { readonly result: JsonValue; readonly error: { readonly code: string } | null };
  return { status: view.status, result: content?.result, code: content?.error?.code };
};

test("[UP-8-5] a project that is made with the standard tools has the bundled ones, and they are served in all projects", async () => {
  await using world = await openWorld();
  const { engine } = world;
  const { items } = await engine.tools.listTools("two");
  expect(items.map(({ toolName }) => toolName).sort()).toEqual(["echo", "emit_marker", "fail", "sleep", "word_count"]);
  for (const projectId of ["one", "two"])
    expect(await call(engine, "echo", { from: projectId }, projectId)).toMatchObject({
      status: "success",
      result: { from: projectId },
    });
});

test("[UTP-8.11-1] word_count maps and reduces through the plane, with 50 words unless asked and 2000 at most", async () => {
  await using world = await openWorld();
  const { engine } = world;
  const many = Array.from({ length: 60 }, (_, index) => `w${String(index).padStart(2, "0")}`).join(" ");
  const map = await call(engine, "word_count", { mode: "map", text: many });
  expect(map.result).toMatchObject({ mode: "map", total: 60, distinct: 60 });
  expect((map.result as { words: unknown[] }).words).toHaveLength(50);
  const parts = [
    { words: [{ word: "a", count: 2 }] },
    {
      words: [
        { word: "a", count: 1 },
        { word: "b", count: 3 },
      ],
    },
  ];
  const reduced = await call(engine, "word_count", { mode: "reduce", parts });
  expect(reduced.result).toEqual({
    mode: "reduce",
    total: 6,
    distinct: 2,
    words: [
      { word: "a", count: 3 },
      { word: "b", count: 3 },
    ],
  });
  await expect(call(engine, "word_count", { text: "a", top_k: 2_001 })).rejects.toMatchObject({ code: "bad_request" });
  expect(await call(engine, "word_count", { mode: "map" })).toMatchObject({ status: "failed", code: "bad_request" });
});

describe("[UP-8-6] sleep", () => {
  test("shows its progress and ends", async () => {
    await using world = await openWorld();
    const { engine } = world;
    const parts: unknown[] = [];
    const stop = await engine.bus.subscribeStream("cg.v1r4.one.*.str.agent.*.part", ({ payload }) => {
      parts.push((JSON.parse(payload) as { part: unknown }).part);
    });
    expect(await call(engine, "sleep", { seconds: 0.05, parts: 5 })).toMatchObject({ result: { slept_seconds: 0.05 } });
    await until("all parts", () => parts.length === 5, PATIENCE_MS);
    stop();
    expect(parts.at(-1)).toEqual({ slept_seconds: 0.05, of_seconds: 0.05 });
  });

  test("is stopped by a cancellation", async () => {
    await using world = await openWorld();
    const { engine, service } = world;
    const made = await engine.calls.dispatch({ projectId: "one", toolName: "sleep", arguments: { seconds: 3_600 } });
    const key = { projectId: "one", toolCallId: made.toolCallId };
    await until("it to run", async () => (await engine.calls.get(key)).status === "running", PATIENCE_MS);
    await engine.calls.cancel({ ...key, reason: "enough" });
    await until("the place to be free", () => service.running() === 0, PATIENCE_MS);
    expect((await engine.calls.get(key)).status).toBe("canceled");
  });
});

describe("[UP-8-7] fail", () => {
  test.each<[string, object, object]>([
    ["as it is", {}, { status: "failed", code: "tool_error" }],
    ["with a code of one's own", { code: "out_of_paper", message: "no" }, { status: "failed", code: "out_of_paper" }],
    ["only at first", { code: "upstream_unavailable", times: 1 }, { status: "success", result: { attempts: 2 } }],
    ["for good when told so", { code: "upstream_unavailable", times: 1, retryable: false }, { status: "failed" }],
    ["after a while", { after_seconds: 0.01 }, { status: "failed", code: "tool_error" }],
  ])("%s", async (_what, args, expected) => {
    await using world = await openWorld();
    expect(await call(world.engine, "fail", args)).toMatchObject(expected);
  });
});

test("[UP-8-8] emit_marker writes its event once", async () => {
  await using world = await openWorld();
  const { engine } = world;
  const begin = await engine.events.now("one");
  expect(await call(engine, "emit_marker", {})).toMatchObject({ status: "success" });
  const markers = async () =>
    (await engine.events.read("one", begin)).filter(({ subject }) => subject.endsWith(".evt.sys.ui.marker"));
  await until("the event", async () => (await markers()).length > 0, PATIENCE_MS);
  expect((await markers()).map(({ payload }) => JSON.parse(payload))).toMatchObject([
    { marker_type: "adoptable_recommendation", source_agent_id: "sys.api" },
  ]);
});

test("[UP-8-9] stopping gives back what may run again", async () => {
  await using world = await openWorld();
  const { engine, service } = world;
  const made = await engine.calls.dispatch({ projectId: "two", toolName: "sleep", arguments: { seconds: 3_600 } });
  const key = { projectId: "two", toolCallId: made.toolCallId };
  await until("it to run", async () => (await engine.calls.get(key)).status === "running", PATIENCE_MS);
  await service.stop({ drainMs: 0 });
  const view = await engine.calls.get(key);
  expect(isSettled(view.status)).toBe(false);
  expect([view.status, view.attempts]).toEqual(["queued", 0]);
});
