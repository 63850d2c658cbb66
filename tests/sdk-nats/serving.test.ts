// Services of the sdk on a real NATS server, against a real engine: one plane for the file, a target for each test.

import { defineTool, type Tool } from "@toolplane/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createGate, createRecordingLog, openWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** Notes who ran which call. */
const noting = (name: string, runs: string[], who = "", retry: "safe" | "never" = "safe"): Tool =>
  defineTool({
    name,
    description: "Count the words of a text",
    parameters: { type: "object", properties: { text: { type: "string" } } } as const,
    retry,
    run: async ({ text = "" }, { call, emit }) => {
      runs.push(`${who}${call.toolCallId}`);
      emit({ seen: text.length });
      return { words: text.split(" ").length };
    },
  });

test("[API-6-N1] [API-5-N1] a call goes to a service that knows nothing but the address, and comes back", async () => {
  const runs: string[] = [];
  const seen: string[] = [];
  const stop = await world.engine.bus.subscribeStream("cg.v1r4.*.*.str.agent.*.part", ({ payload }) =>
    seen.push(payload),
  );
  await using _serving = await world.serve([noting("count_words", runs)], { target: "text" });
  const view = await world.call("count_words", { text: "one two three" });
  expect(view).toMatchObject({ status: "success", target: "text", attempts: 1 });
  expect(await world.resultOf(view)).toEqual({ words: 3 });
  expect(runs).toEqual([view.toolCallId]);
  await expect.poll(() => seen.length).toBe(1);
  expect(JSON.parse(seen[0] ?? "")).toMatchObject({ tool_call_id: view.toolCallId, index: 0, part: { seen: 13 } });
  stop();
});

test.for(["safe", "never"] as const)(
  "[API-5-N1] two services of tools with retry %s share 500 calls: each call runs once, and both have their part",
  { timeout: 120_000 },
  async (retry) => {
    const runs: string[] = [];
    const target = `shared_${retry}`;
    const shared = (who: string) => world.serve([noting(target, runs, who, retry)], { target, concurrency: 16 });
    await using _one = await shared("one:");
    await using _two = await shared("two:");
    const views = await Promise.all(Array.from({ length: 500 }, (_, i) => world.call(target, { text: `call ${i}` })));
    expect(new Set(views.map(({ status }) => status))).toEqual(new Set(["success"]));
    expect(runs.map((run) => run.slice("one:".length)).sort()).toEqual(
      views.map(({ toolCallId }) => toolCallId).sort(),
    );
    expect(new Set(runs.map((run) => run.slice(0, 3)))).toEqual(new Set(["one", "two"]));
    // Nothing is left behind on NATS: every command was acknowledged, or thrown away.
    await expect.poll(() => world.waitingCommands(target), { timeout: 20_000 }).toBe(0);
  },
);

test("[API-5-N3] services of two projects share a target's name, and each gets its own calls", async () => {
  await world.engine.projects.createProject({ project_id: "shop", title: "Shop", bootstrap: false }, "sys.test");
  const demo: string[] = [];
  const shop: string[] = [];
  await using _demo = await world.serve([noting("both", demo)], { target: "both" });
  await using _shop = await world.serve([noting("both", shop)], { target: "both", project: "shop" });
  const calls = await Promise.all(
    Array.from({ length: 20 }, (_, i) => world.call("both", {}, { projectId: i % 2 === 0 ? "demo" : "shop" })),
  );
  const of = (projectId: string) => calls.filter((call) => call.projectId === projectId).map((call) => call.toolCallId);
  expect(calls.every(({ status }) => status === "success")).toBe(true);
  expect(demo.sort()).toEqual(of("demo").sort());
  expect(shop.sort()).toEqual(of("shop").sort());
});

test("[API-5-N2] calls of one session wait for each other, and none is lost on the way", async () => {
  const order: string[] = [];
  let running = 0;
  const tool = defineTool({
    name: "in_turn",
    description: "One after the other",
    parameters: { type: "object", properties: {} } as const,
    retry: "safe",
    options: { session: "agent" },
    run: async (_args, { call }) => {
      running += 1;
      order.push(`${call.toolCallId} ${running}`);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return null;
    },
  });
  await using _serving = await world.serve([tool], { target: "in_turn" });
  const views = await Promise.all(Array.from({ length: 4 }, () => world.call("in_turn")));
  expect(views.map(({ status }) => status)).toEqual(["success", "success", "success", "success"]);
  expect(order).toHaveLength(4);
  expect(order.every((entry) => entry.endsWith(" 1"))).toBe(true);
});

test("[API-5-N1] canceling a call reaches the tool through its signal", async () => {
  const gate = createGate();
  const reasons: unknown[] = [];
  const tool = defineTool({
    name: "patient",
    description: "Waits to be told to stop",
    parameters: { type: "object", properties: {} } as const,
    run: (_args, { signal, heartbeat }) =>
      new Promise((_resolve, reject) => {
        gate.open();
        signal.addEventListener("abort", () => {
          reasons.push(signal.reason);
          reject(signal.reason as Error);
        });
        void canceled.whenOpen.then(() => heartbeat());
      }),
  });
  const canceled = createGate();
  await using serving = await world.serve([tool], { target: "patient" });
  const toolCallId = await world.dispatch("patient");
  await gate.whenOpen;
  await world.engine.calls.cancel({ projectId: "demo", toolCallId, by: "sys.test" });
  // The news comes with the next heartbeat; the tool asks for one instead of waiting seconds.
  canceled.open();
  await expect.poll(() => reasons.length).toBe(1);
  await expect.poll(() => serving.running()).toBe(0);
  expect((await world.until(toolCallId, "canceled")).status).toBe("canceled");
});

test("[API-5-N4] stopping drains, gives back what it holds and closes the connection", async () => {
  const gate = createGate();
  let runs = 0;
  const tool = defineTool({
    name: "long",
    description: "Runs until told to stop",
    parameters: { type: "object", properties: {} } as const,
    retry: "safe",
    run: (_args, { signal }) =>
      new Promise((resolve, reject) => {
        runs += 1;
        if (runs > 1) resolve("again");
        gate.open();
        signal.addEventListener("abort", () => reject(signal.reason as Error));
      }),
  });
  const log = createRecordingLog();
  const first = await world.serve([tool], { target: "long", log });
  const toolCallId = await world.dispatch("long");
  await gate.whenOpen;
  await first.stop({ drainMs: 0 });
  expect(first.running()).toBe(0);
  await expect.poll(() => world.connections("long@")).toBe(0);
  expect((await world.engine.calls.get({ projectId: "demo", toolCallId })).status).toBe("queued");
  await using _second = await world.serve([tool], { target: "long" });
  expect(await world.resultOf(await world.until(toolCallId, "success"))).toBe("again");
});

test("[API-5-N7] a result that NATS cannot carry ends as failed, with what to do", async () => {
  const tool = defineTool({
    name: "large",
    description: "Gives back more than a message holds",
    parameters: { type: "object", properties: {} } as const,
    run: async () => "x".repeat(1_100_000),
  });
  await using _serving = await world.serve([tool], { target: "large", maxResultBytes: 4_000_000 });
  const view = await world.call("large");
  expect(view).toMatchObject({ status: "failed", errorCode: "result_too_large" });
});

test("[ENG-pin-1] two versions serve 200 pinned calls: each ran on its own code, none failed", {
  timeout: 120_000,
}, async () => {
  const HALF = 100;
  const runs: string[] = [];
  const gate = createGate();
  const version = (which: string, open: Promise<unknown>): Tool =>
    defineTool({
      name: "rolled",
      description: `Says its version, which is ${which}`,
      parameters: { type: "object", properties: { made: { type: "string" } } } as const,
      retry: "safe",
      pin: "strict",
      run: async ({ made = "" }) => {
        await open;
        runs.push(`${made} ${which}`);
        return which;
      },
    });
  const make = (made: string) => Promise.all(Array.from({ length: HALF }, () => world.dispatch("rolled", { made })));
  const serving = { target: "rolled", concurrency: 16 };
  await using _older = await world.serve([version("1", gate.whenOpen)], serving);
  const first = await make("1");
  await using _newer = await world.serve([version("2", Promise.resolve())], serving);
  const all = [...first, ...(await make("2"))];
  gate.open();
  await Promise.all(all.map((id) => world.until(id, "success")));
  expect(runs.sort()).toEqual([...first.map(() => "1 1"), ...first.map(() => "2 2")]);
});
