// Failures a process lives through: an error at every point, a pause longer than every lease, a network that cuts
// connections at random.

import { once } from "node:events";
import { createDatabase, type FaultPoint } from "@toolplane/engine/internal";
import type { ExitStatus } from "@toolplane/processes";
import {
  CUT_MOMENTS,
  createChance,
  createPlannedFaults,
  type Findings,
  NOTHING_FOUND,
  openCrashRun,
  startDatabaseProxy,
  startEngineChild,
  startWorkload,
  until,
} from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { A_LOAD, SOME_OF_ALL } from "./items.ts";
import { runLimited } from "./limited.ts";
import { CRASH_POINTS } from "./points.ts";
import { A_SEED } from "./seed.ts";

const neverEnds = { dying: () => undefined, stalling: () => undefined };

describe("an error", () => {
  // What has no key is not asked for again, so some more of what leads to the rarer points.
  const ITEMS = { ...SOME_OF_ALL, silent: 3, cancel: 3 };

  test.each(["postgres", "external"] as const)(
    "[CRASH-8] at every point once, in one life, with the %s bus: the engine goes on",
    { timeout: 120_000 },
    async (carrier) => {
      await using run = await openCrashRun({ carrier });
      const plan = CRASH_POINTS.map((point) => ({ point, hit: 1, act: "throw" }) as const);
      const faults = createPlannedFaults(plan, neverEnds);
      await using workload = await startWorkload(run.life("unlucky", ITEMS), faults);
      await workload.done;
      expect(await run.check()).toEqual(NOTHING_FOUND);
      const unused = CRASH_POINTS.filter((point) => faults.hits(point) === 0);
      // With an external bus every call is announced on it, so none is handed over.
      const other = carrier === "postgres" ? /^relay:/ : /^(deliver|ack|handover):/;
      expect(unused.filter((point) => !other.test(point))).toEqual([]);
    },
  );
});

describe("a process that stands still", () => {
  const POINTS: FaultPoint[] = [
    "dispatch:before-commit",
    "commit:before-commit",
    "lease:after-commit",
    "heartbeat:before-commit",
    "settle:before-commit",
    "card:after-commit",
    "cancel:before-commit",
    "expire:before-commit",
  ];

  interface Nap {
    readonly meanwhile: Findings;
    readonly afterwards: Findings;
    readonly exit: ExitStatus;
  }

  const napAt = async (point: FaultPoint, hangs: AbortSignal): Promise<Nap> => {
    await using run = await openCrashRun();
    const faults = [{ point, hit: 1, act: "stall" }] as const;
    // Only the sleeper decides about its approvals: such calls would rightly wait for it.
    const items = { ...SOME_OF_ALL, allowed: 0, denied: 0 };
    await using sleeper = await startEngineChild({ ...run.life("sleeper", items), faults });
    hangs.addEventListener("abort", () => void sleeper.kill());
    const isAsleep = (): boolean => run.lines().some((line) => line.what === "stalled" && line.point === point);
    await until(`the process to stop at ${point}`, isAsleep);
    // Somebody who only serves finishes what the sleeper holds, while it sleeps.
    const meanwhile = await run.recover({});
    sleeper.wake();
    await sleeper.done;
    return { meanwhile, afterwards: await run.check(), exit: await sleeper.leave() };
  };

  let naps: ReadonlyMap<FaultPoint, Promise<Nap>>;
  beforeAll(() => {
    naps = runLimited(POINTS, { atOnce: 3 }, napAt);
  });

  afterAll(async () => {
    await Promise.allSettled(naps.values());
  });

  test.each(POINTS)(
    "[CRASH-7] at %s is replaced, and changes nothing when it wakes up",
    { timeout: 120_000 },
    async (point) => {
      const nap = await naps.get(point);
      expect(nap?.meanwhile).toEqual(NOTHING_FOUND);
      expect(nap?.afterwards).toEqual(NOTHING_FOUND);
      expect(nap?.exit).toEqual({ code: 0, signal: null });
    },
  );
});

describe("a network that breaks connections", () => {
  const STATEMENTS = [
    "calls.dispatch",
    "calls.dispatch-fresh",
    "calls.dispatch-fresh/queued",
    "calls.claim",
    "calls.claim-first-line",
    "calls.settle",
    "calls.settle-direct",
    "calls.heartbeat",
    "calls.release",
    "calls.find-keyed",
    "calls.read",
    "turns.read-spawn",
    "turns.hold-agents",
    "turns.hold-work",
    "turns.hold-last-work",
    "reports.put-card",
    "watchdog.read-due",
    "outbox_insert_messages",
    "begin",
    "commit",
  ] as const;

  test("[CRASH-11] or falls silent: the statement is given up, and the next one goes another way", async () => {
    await using run = await openCrashRun();
    await using proxy = await startDatabaseProxy(run.databaseUrl);
    const db = createDatabase({
      connection: { connectionString: proxy.url },
      maxConnections: 1,
      statementTimeoutMs: 100,
    });
    const one = { name: "one", text: "select 1 as one" };
    expect(await db.query(one)).toEqual([{ one: 1 }]);
    const silenced = proxy.cut({ statement: "one", moment: "silenced" });
    await expect(db.query(one)).rejects.toMatchObject({ code: "storage_error" });
    await silenced;
    expect(await db.query(one)).toEqual([{ one: 1 }]);
    await db.close();
  });

  test("[CRASH-10] at random statements and moments: nothing lost, doubled or stuck", {
    timeout: 120_000,
  }, async () => {
    const chance = createChance(A_SEED);
    await using run = await openCrashRun();
    await using proxy = await startDatabaseProxy(run.databaseUrl);
    await using workload = await startWorkload(run.life("cut off", A_LOAD, { databaseUrl: proxy.url }));
    let cuts = 0;
    const over = new AbortController();
    const ended = once(over.signal, "abort");
    const cutOneByOne = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const cut = proxy.cut({ statement: chance.pick(STATEMENTS), moment: chance.pick(CUT_MOMENTS) });
        await Promise.race([cut.then(() => (cuts += 1)), ended]);
      }
    };
    // Several at once: some of the statements are rare.
    const cutting = Array.from({ length: 4 }, cutOneByOne);
    await workload.done;
    over.abort();
    await Promise.all(cutting);
    expect(cuts).toBeGreaterThan(10);
    expect(await run.check()).toEqual(NOTHING_FOUND);
  });
});
