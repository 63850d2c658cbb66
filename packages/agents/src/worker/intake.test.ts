import type { Advanced, AgentKey, Work } from "@toolplane/engine";
import fc from "fast-check";
import { expect, test } from "vitest";
import { agentName, createIntake } from "./intake.ts";

const key = (agentId: string): AgentKey => ({ projectId: "p", agentId });
const NOTHING: Advanced = { applied: 0, workLeft: false };

interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}
const defer = <T>(): Deferred<T> => Promise.withResolvers<T>() as Deferred<T>;

/** Turns of the event loop, not time: everything that can go on has gone on. */
const settle = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await Promise.resolve();
};

const openIntake = (capacity: number) => {
  const advances: { agent: string; takeWork: boolean; answer: Deferred<Advanced> }[] = [];
  const performing = new Map<string, Deferred<void>>();
  const rung: string[] = [];
  const failures: string[] = [];
  let hungry = 0;
  const intake = createIntake({
    capacity,
    advance: (of, takeWork) => {
      const answer = defer<Advanced>();
      advances.push({ agent: of.agentId, takeWork, answer });
      return answer.promise;
    },
    perform: (work) => {
      const over = defer<void>();
      performing.set(work.agentId, over);
      return over.promise.finally(() => performing.delete(work.agentId));
    },
    rungWhileHeld: (work) => rung.push(work.agentId),
    scanFailed: (of) => failures.push(of.agentId),
    hungry: () => hungry++,
  });
  const workOf = (agentId: string): Work => ({ ...key(agentId), claimId: agentId }) as Work;
  /** Answers the oldest open scan. */
  const answer = async (given: Partial<Advanced> | "work" | Error): Promise<{ agent: string; takeWork: boolean }> => {
    const open = advances.shift();
    expect(open).toBeDefined();
    if (open === undefined) return { agent: "", takeWork: false };
    if (given instanceof Error) open.answer.reject(given);
    else if (given === "work") open.answer.resolve({ ...NOTHING, work: workOf(open.agent) });
    else open.answer.resolve({ ...NOTHING, ...given });
    await settle();
    return { agent: open.agent, takeWork: open.takeWork };
  };
  const end = async (agentId: string): Promise<void> => {
    performing.get(agentId)?.resolve();
    await settle();
  };
  return { intake, advances, performing, rung, failures, answer, end, hungry: () => hungry };
};

test("[UTP-10.1-1] rings of one agent are one scan, and one more for all that came meanwhile", async () => {
  const t = openIntake(4);
  for (let i = 0; i < 5; i++) t.intake.ring(key("a"));
  expect(t.advances).toHaveLength(1);
  for (let i = 0; i < 5; i++) t.intake.ring(key("a"));
  await t.answer({});
  expect(t.advances).toHaveLength(1);
  await t.answer({});
  expect(t.advances).toHaveLength(0);
  expect(t.intake.stats()).toEqual({ held: 0, dirty: 0, scanning: 0, waiting: 0, scans: 2, taken: 0 });
});

test("a ring for an agent in hand is passed on, and scanned when the work ends", async () => {
  const t = openIntake(4);
  t.intake.ring(key("a"));
  await t.answer("work");
  t.intake.ring(key("a"));
  expect(t.rung).toEqual(["a"]);
  expect(t.advances).toHaveLength(0);
  await t.end("a");
  expect(t.advances).toHaveLength(1);
});

test("a ring during the scan that brought the work is passed on as well", async () => {
  const t = openIntake(4);
  t.intake.ring(key("a"));
  t.intake.ring(key("a"));
  await t.answer("work");
  expect(t.rung).toEqual(["a"]);
});

test("without room results are applied and the work is left; a place that frees takes those that wait", async () => {
  const t = openIntake(1);
  t.intake.ring(key("a"));
  await t.answer("work");
  t.intake.ring(key("b"));
  t.intake.ring(key("c"));
  expect((await t.answer({ workLeft: true })).takeWork).toBe(false);
  expect((await t.answer({ applied: 1 })).takeWork).toBe(false);
  expect(t.intake.stats()).toMatchObject({ held: 1, waiting: 1 });
  await t.end("a");
  expect(await t.answer("work")).toEqual({ agent: "b", takeWork: true });
  expect(t.intake.stats()).toMatchObject({ held: 1, waiting: 0, dirty: 0 });
});

test("an agent found by looking is scanned when there is room, once, and not at all without", async () => {
  const t = openIntake(1);
  t.intake.offer(key("a"));
  t.intake.offer(key("a"));
  await t.answer("work");
  for (const agent of ["a", "b", "c", "b"]) t.intake.offer(key(agent));
  expect(t.advances).toHaveLength(0);
  expect(t.rung).toEqual([]);
  await t.end("a");
  expect(await t.answer({})).toEqual({ agent: "b", takeWork: true });
  expect(await t.answer({})).toEqual({ agent: "c", takeWork: true });
  expect(t.intake.stats()).toMatchObject({ held: 0, waiting: 0, scans: 3, taken: 1 });
});

test("work that waits for a place is not scanned without one, nor forgotten while its agent is scanned or in hand", async () => {
  const t = openIntake(1);
  t.intake.ring(key("a"));
  await t.answer("work");
  t.intake.ringForWork(key("b"));
  t.intake.ringForWork(key("a"));
  expect(t.rung).toEqual([]);
  expect(t.advances).toHaveLength(0);
  // Results of b are applied meanwhile, and the scan may have read before the work was there.
  t.intake.ring(key("b"));
  t.intake.ringForWork(key("b"));
  expect((await t.answer({ applied: 1 })).takeWork).toBe(false);
  expect(t.advances).toHaveLength(0);
  await t.end("a");
  expect(await t.answer("work")).toEqual({ agent: "b", takeWork: true });
  await t.end("b");
  expect(await t.answer({})).toEqual({ agent: "a", takeWork: true });
  expect(t.intake.stats()).toMatchObject({ held: 0, waiting: 0, dirty: 0, scans: 4 });
});

test("a scan that fails hurts nobody else and is forgotten: the slow look finds the agent again", async () => {
  const t = openIntake(2);
  t.intake.ring(key("a"));
  t.intake.ring(key("b"));
  await t.answer(new RangeError("away"));
  await t.answer("work");
  expect(t.failures).toEqual(["a"]);
  expect(t.intake.stats()).toMatchObject({ held: 1, dirty: 0, scanning: 0 });
});

test("closing takes no more, and is over when the last work is", async () => {
  const t = openIntake(2);
  t.intake.ring(key("a"));
  t.intake.ring(key("b"));
  await t.answer("work");
  let closed = false;
  const closing = t.intake.close().then(() => {
    closed = true;
  });
  t.intake.ring(key("c"));
  await t.answer({});
  expect(closed).toBe(false);
  await t.end("a");
  await closing;
  expect(t.advances).toHaveLength(0);
});

test("room that nobody wants says so", async () => {
  const t = openIntake(2);
  t.intake.ring(key("a"));
  const before = t.hungry();
  await t.answer({});
  expect(t.hungry()).toBeGreaterThan(before);
});

test("[UTP-10.1-1] whatever happens: one scan per agent, never more work than room, and nothing is kept at the end", async () => {
  const action = fc.oneof(
    fc.record({ do: fc.constant("ring"), agent: fc.constantFrom("a", "b", "c", "d", "e") }),
    fc.record({ do: fc.constant("answer"), work: fc.boolean(), left: fc.boolean() }),
    fc.record({ do: fc.constant("end"), agent: fc.constantFrom("a", "b", "c", "d", "e") }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 60 }), fc.integer({ min: 1, max: 3 }), async (actions, capacity) => {
      const t = openIntake(capacity);
      const check = (): void => {
        const agents = t.advances.map(({ agent }) => agent);
        expect(new Set(agents).size).toBe(agents.length);
        expect(agents.some((agent) => t.performing.has(agent))).toBe(false);
        expect(t.performing.size).toBeLessThanOrEqual(capacity);
      };
      for (const one of actions) {
        if (one.do === "ring") t.intake.ring(key((one as { agent: string }).agent));
        else if (one.do === "end") await t.end((one as { agent: string }).agent);
        else if (t.advances.length > 0) {
          const { work, left } = one as { work: boolean; left: boolean };
          const takeWork = t.advances[0]?.takeWork === true;
          await t.answer(work && takeWork ? "work" : { workLeft: left && !takeWork });
        }
        check();
      }
      while (t.advances.length > 0 || t.performing.size > 0) {
        if (t.advances.length > 0) await t.answer({});
        for (const agent of [...t.performing.keys()]) await t.end(agent);
        check();
      }
      const { scans: _scans, taken: _taken, ...state } = t.intake.stats();
      expect(state).toEqual({ held: 0, dirty: 0, scanning: 0, waiting: 0 });
    }),
    { numRuns: 60 },
  );
});

test("names of agents of different projects differ", () => {
  expect(agentName({ projectId: "p", agentId: "a" })).not.toBe(agentName({ projectId: "q", agentId: "a" }));
});
