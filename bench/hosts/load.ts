// So many callers in a loop for so long: round trips per second, and how long one took.

import { readdirSync, readFileSync } from "node:fs";
import type { Pair } from "./pair.ts";

/** Microseconds of all its threads. Only Linux tells. */
const cpuOf = (pid: number): number => {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const nanoseconds = threads.map((thread) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]),
    );
    return nanoseconds.reduce((sum, part) => sum + part, 0) / 1_000;
  } catch {
    return Number.NaN;
  }
};

export interface Load {
  readonly inFlight: number;
  readonly text: string;
  readonly ms: number;
}

export interface Measured {
  readonly perSecond: number;
  /** Microseconds of processor time per round trip: what it costs, whatever else the machine does. */
  readonly parentCpu: number;
  readonly childCpu: number;
  readonly p50: number;
  readonly p99: number;
}

const at = (sorted: Float64Array, share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;

export const applyLoad = async (pair: Pair, { inFlight, text, ms }: Load): Promise<Measured> => {
  const took: number[] = [];
  const childBefore = cpuOf(pair.childPid);
  const parentBefore = process.cpuUsage();
  const start = performance.now();
  const until = start + ms;
  const caller = async (): Promise<void> => {
    for (let now = performance.now(); now < until; ) {
      await pair.call(text);
      const then = performance.now();
      took.push(then - now);
      now = then;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  const sorted = Float64Array.from(took).sort();
  const { user, system } = process.cpuUsage(parentBefore);
  return {
    perSecond: (took.length / (performance.now() - start)) * 1000,
    parentCpu: (user + system) / took.length,
    childCpu: (cpuOf(pair.childPid) - childBefore) / took.length,
    p50: at(sorted, 0.5),
    p99: at(sorted, 0.99),
  };
};
