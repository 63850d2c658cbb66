// A process dies by SIGKILL at each named point; another comes, finishes what is left, and nothing was lost or doubled.

import type { FaultPoint } from "@toolplane/engine/internal";
import { type Findings, NOTHING_FOUND, openCrashRun, startEngineChild } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SOME_OF_ALL } from "./items.ts";
import { runLimited } from "./limited.ts";
import { CRASH_POINTS } from "./points.ts";

/** Points that are passed often are hit while others are under way; the rest at the first chance. */
const HIT: Partial<Record<FaultPoint, number>> = {
  "dispatch:before-commit": 2,
  "dispatch:after-commit": 2,
  "lease:before-commit": 2,
  "settle:before-commit": 2,
  "settle:after-commit": 2,
};

interface Death {
  readonly signal: string | null;
  readonly died: readonly string[];
  readonly findings: Findings;
}

const dieAt = async (point: FaultPoint, hangs: AbortSignal): Promise<Death> => {
  await using run = await openCrashRun({ carrier: point.startsWith("relay:") ? "external" : "postgres" });
  const faults = [{ point, hit: HIT[point] ?? 1, act: "kill" }] as const;
  await using child = await startEngineChild({ ...run.life("victim", SOME_OF_ALL), faults });
  hangs.addEventListener("abort", () => void child.kill());
  // A point that is not reached leaves the process alive and everything done: that is a failure below.
  const over = new AbortController();
  const missed = child.done.then(async (done) => {
    if (!done) return;
    await run.check(undefined, over.signal);
    await child.leave();
  });
  const { signal } = await child.exited;
  over.abort();
  await missed;
  const died = run.lines().flatMap((line) => (line.what === "died" ? [line.point] : []));
  return { signal, died, findings: await run.recover(SOME_OF_ALL) };
};

// Most of a run is waiting for leases to lapse: three go well together, beside other test files.
const AT_ONCE = 3;

describe("a process that dies", () => {
  let deaths: ReadonlyMap<FaultPoint, Promise<Death>>;

  beforeAll(() => {
    deaths = runLimited(CRASH_POINTS, { atOnce: AT_ONCE }, dieAt);
  });

  // Whatever a filter leaves out is still under way when its tests are over.
  afterAll(async () => {
    await Promise.allSettled(deaths.values());
  });

  test.each(CRASH_POINTS)(
    "[INV-I1] [INV-I3] [CRASH-1] at %s loses nothing, doubles nothing, leaves nothing behind",
    // More than a piece may take, so that one that hangs is named.
    { timeout: 120_000 },
    async (point) => {
      const death = await deaths.get(point);
      expect(death?.signal).toBe("SIGKILL");
      expect(death?.died).toEqual([point]);
      expect(death?.findings).toEqual(NOTHING_FOUND);
    },
  );
});
