// A worker's life on an engine in memory: rings and looks, claims that go away, draining, chunks.

import { type Brain, type BrainRequest, createWorker, type Worker, type WorkerOptions } from "@toolplane/agents";
import { UsageError } from "@toolplane/protocol";
import { eventually } from "@toolplane/testkit";
import { afterEach, expect, test } from "vitest";
import { createFakePlane, type FakePlane } from "./support/fake-plane.ts";

const workers: Worker[] = [];
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop({ drainMs: 0 })));
});

const create = (plane: FakePlane, brain: Brain, options: Partial<WorkerOptions> = {}): Worker => {
  const worker = createWorker({ engine: plane.engine, brains: async () => brain, workerTargets: ["pool"], ...options });
  workers.push(worker);
  return worker;
};

const start = async (plane: FakePlane, brain: Brain, options: Partial<WorkerOptions> = {}): Promise<Worker> => {
  const worker = create(plane, brain, options);
  await worker.start();
  return worker;
};

/** Thinks until it is told what to say, or told to stop. */
const slowBrain = () => {
  const open: { request: BrainRequest; say: (text: string) => void }[] = [];
  const brain: Brain = {
    think: (request) =>
      new Promise((resolve, reject) => {
        open.push({ request, say: (text) => resolve({ text, toolCalls: [] }) });
        request.signal.addEventListener("abort", () => reject(new RangeError("aborted")), { once: true });
      }),
  };
  return { brain, open };
};

const quick: Brain = { think: async () => ({ text: "done", toolCalls: [] }) };

test("[UTP-10.1-5] what became due while nobody listened is found on start", async () => {
  const plane = createFakePlane();
  const turns = ["a", "b", "c"].map((agent) => plane.spawn(agent, { silent: true }));
  await start(plane, quick, { lookMs: 1_000_000 });
  await eventually(() => turns.every(({ status }) => status === "ended"));
  expect(plane.counts.looks).toBe(1);
});

test("[UTP-10.1-5] a ring that was lost costs time, not the turn", async () => {
  const plane = createFakePlane();
  await start(plane, quick, { lookMs: 5 });
  const turn = plane.spawn("a", { silent: true });
  await eventually(() => turn.status === "ended");
});

test("what is due and brings no work is not looked at in a circle", async () => {
  const plane = createFakePlane();
  let looks = 0;
  const due = async () => {
    looks++;
    return Array.from({ length: 500 }, (_, index) => ({ projectId: "fake", agentId: `ghost_${index}` }));
  };
  const engine = { ...plane.engine, turns: { ...plane.engine.turns, due } };
  const worker = await start(plane, quick, { engine, lookMs: 1_000_000 });
  await eventually(() => worker.stats().scans >= 500 && worker.stats().scanning === 0);
  for (let i = 0; i < 100; i++) await new Promise((resolve) => setImmediate(resolve));
  expect(looks).toBe(1);
});

test("[UTP-10.7-3] a stop interrupts the model call at once, and nothing is written afterwards", async () => {
  const plane = createFakePlane();
  const { brain, open } = slowBrain();
  const worker = await start(plane, brain, { heartbeatMs: 1_000_000, lookMs: 1_000_000 });
  const turn = plane.spawn("a");
  await eventually(() => open.length === 1);
  plane.stop(turn);
  await eventually(() => worker.stats().turns.lost === 1);
  expect(open[0]?.request.signal.aborted).toBe(true);
  expect(turn.commits).toEqual([]);
  expect(turn.end).toBeUndefined();
});

test("[UTP-10.7-3] a brain that does not listen to its signal is left behind", async () => {
  const plane = createFakePlane();
  const worker = await start(plane, { think: () => new Promise(() => {}) }, { heartbeatMs: 1_000_000 });
  const turn = plane.spawn("a");
  await eventually(() => turn.status === "working" && plane.counts.begun.length === 1);
  plane.stop(turn);
  await eventually(() => worker.stats().held === 0);
  expect(worker.stats().turns.lost).toBe(1);
});

test("[UTP-10.2-1] [INV-I2] whoever lost its claim changes nothing; the next one runs the same step under the same id", async () => {
  const plane = createFakePlane();
  const { brain, open } = slowBrain();
  await start(plane, brain, { heartbeatMs: 1_000_000, lookMs: 5 });
  const turn = plane.spawn("a");
  await eventually(() => open.length === 1);
  plane.lapse(turn);
  // The first one comes back to life and wants to say something.
  open[0]?.say("late");
  await eventually(() => open.length === 2);
  open[1]?.say("second");
  await eventually(() => turn.status === "ended");
  expect(turn.end?.deliverable).toBe("second");
  expect(new Set(plane.counts.begun).size).toBe(1);
});

test("[UTP-10.1-4] draining lets what is in hand finish", async () => {
  const plane = createFakePlane();
  const { brain, open } = slowBrain();
  const worker = await start(plane, brain);
  const turn = plane.spawn("a");
  await eventually(() => open.length === 1);
  const stopped = worker.stop({ drainMs: 60_000 });
  plane.spawn("b");
  open[0]?.say("done");
  await stopped;
  expect(turn.end).toMatchObject({ status: "success", deliverable: "done" });
  expect(open).toHaveLength(1);
  expect(plane.counts.releases).toBe(0);
});

test("[UTP-10.1-4] what does not finish in time is interrupted and given back; another worker goes on", async () => {
  const plane = createFakePlane();
  const { brain, open } = slowBrain();
  const worker = await start(plane, brain);
  const turn = plane.spawn("a");
  await eventually(() => open.length === 1);
  await worker.stop({ drainMs: 1 });
  expect(plane.counts.releases).toBe(1);
  expect(worker.stats()).toMatchObject({ held: 0, turns: { released: 1 } });
  await start(plane, quick);
  await eventually(() => turn.status === "ended");
  expect(turn.end?.status).toBe("success");
});

test("[UTP-10.1-4] a drain waits for the step, not for the turn", async () => {
  const plane = createFakePlane();
  const refused: Brain = {
    think: async ({ stepNumber }) =>
      stepNumber > 5 ? { text: "end", toolCalls: [] } : { text: "", toolCalls: [{ name: "rm", arguments: {} }] },
  };
  let stopping: Promise<void> | undefined;
  const worker: Worker = create(plane, {
    think: (request) => {
      if (request.stepNumber === 2) stopping ??= worker.stop({ drainMs: 60_000 });
      return refused.think(request);
    },
  });
  await worker.start();
  const turn = plane.spawn("a");
  await eventually(() => stopping !== undefined);
  await stopping;
  expect(turn).toMatchObject({ steps: 2, status: "pending" });
});

test("no more turns think at once than there is room for, and all of them get their turn", async () => {
  const plane = createFakePlane();
  let thinking = 0;
  let most = 0;
  const brain: Brain = {
    think: async () => {
      most = Math.max(most, ++thinking);
      await new Promise((resolve) => setImmediate(resolve));
      thinking--;
      return { text: "done", toolCalls: [] };
    },
  };
  await start(plane, brain, { concurrency: 3, lookMs: 1_000_000 });
  const turns = Array.from({ length: 40 }, (_, index) => plane.spawn(`agent_${index % 20}`));
  await eventually(() => turns.every(({ status }) => status === "ended"));
  expect(most).toBe(3);
});

test("[UTP-1.4-W12] chunks: start, pieces and end, with what the model used and without what it was given", async () => {
  const plane = createFakePlane();
  const brain: Brain = {
    think: async ({ onPiece }) => {
      onPiece({ kind: "reasoning", text: "hm" });
      onPiece({ kind: "content", text: "" });
      onPiece({ kind: "content", text: "he\u0000llo" });
      return { text: "hello", toolCalls: [], usage: { tokens: 1 }, cost: 0.1 };
    },
  };
  await start(plane, brain);
  const llm_config = { model: "m", api_key: "env:MODEL_KEY", provider_options: { auth_token: "t" } };
  const turn = plane.spawn("a", { profile: { llm_config } });
  await eventually(() => turn.status === "ended");
  const common = { agent_turn_id: turn.turnId, step_id: plane.counts.begun[0] };
  expect(plane.chunks).toEqual([
    { ...common, chunk_type: "start", metadata: { model: "m", temperature: 1 } },
    { ...common, chunk_type: "reasoning", content: "hm", index: 1 },
    { ...common, chunk_type: "content", content: "he\ufffdllo", index: 2 },
    { ...common, chunk_type: "end", usage: { tokens: 1 }, response_cost: 0.1, index: 3 },
  ]);
});

test("[UTP-10.2-10] no key and no token-like option is in a chunk; without stream there are none", async () => {
  const plane = createFakePlane();
  await start(plane, { think: () => Promise.reject(new RangeError("secret words")) });
  const settings = { api_key: "env:MODEL_KEY", api_base: "http://u:p@x", provider_options: { auth_token: "t0k" } };
  const loud = plane.spawn("a", { profile: { llm_config: settings } });
  await eventually(() => loud.status === "ended");
  const text = JSON.stringify(plane.chunks);
  expect(plane.chunks.map(({ chunk_type }) => chunk_type)).toEqual(["start", "end"]);
  for (const secret of ["MODEL_KEY", "u:p@", "t0k", "secret words"]) expect(text).not.toContain(secret);
  const quiet = plane.spawn("b", { profile: { llm_config: { stream: false } } });
  await eventually(() => quiet.status === "ended");
  expect(plane.chunks).toHaveLength(2);
});

test("a worker is started once, with pools and room", async () => {
  const plane = createFakePlane();
  const worker = await start(plane, quick);
  await expect(worker.start()).rejects.toBeInstanceOf(UsageError);
  const engine = plane.engine;
  const brains = async () => quick;
  expect(() => createWorker({ engine, brains, workerTargets: [] })).toThrow(UsageError);
  expect(() => createWorker({ engine, brains, concurrency: 0 })).toThrow(UsageError);
});
