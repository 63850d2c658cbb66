// One round: so many in flight for so long, drained at the end; what it took by every measure.

import { type Counters, type Counts, countsBetween } from "./counters.ts";
import { readBackendCpuMs, readOwnCpuMs, readServerCpuMs } from "./process-cpu.ts";

/** Does one thing from beginning to end; false when it has nothing left to do it with. */
export type DoOne = () => Promise<boolean>;

export interface Variant {
  readonly name: string;
  /** What it promises beyond the variant it is compared with. */
  readonly adds: string;
  /** Ready for a round with this many in flight. */
  begin(inFlight: number): { readonly doOne: DoOne; end(): Promise<void> };
  /** Puts back what rounds use up; not measured. */
  readonly restore?: (() => Promise<void>) | undefined;
}

export interface Sample {
  readonly done: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Per call: this process (the engine, its callers and its service) and the server. */
  readonly nodeMs: number;
  readonly serverMs: number;
  /** Of `serverMs`, what the connections to the database at work used; 0 where it was not asked for. */
  readonly backendMs: number;
  readonly counts: Counts;
}

export interface RoundMeans {
  readonly counters: Counters;
  readonly serverPid: number;
  /** The database at work, where the server has several. */
  readonly database?: string | undefined;
}

const quantile = (sorted: Float64Array, q: number): number => sorted[Math.floor((sorted.length - 1) * q)] ?? Number.NaN;

const drive = async (doOne: DoOne, inFlight: number, seconds: number): Promise<number[]> => {
  const latencies: number[] = [];
  const end = performance.now() + seconds * 1000;
  const lane = async (): Promise<void> => {
    for (let now = performance.now(); now < end; ) {
      if (!(await doOne())) return;
      const after = performance.now();
      latencies.push(after - now);
      now = after;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return latencies;
};

export const warmUp = async (variant: Variant, inFlight: number, seconds: number): Promise<void> => {
  const { doOne, end } = variant.begin(inFlight);
  await drive(doOne, inFlight, seconds);
  await end();
  await variant.restore?.();
};

export const runRound = async (
  variant: Variant,
  { inFlight, seconds }: { readonly inFlight: number; readonly seconds: number },
  { counters, serverPid, database }: RoundMeans,
): Promise<Sample> => {
  const { doOne, end } = variant.begin(inFlight);
  const before = await counters.read();
  const readBackends = (): number => (database === undefined ? 0 : readBackendCpuMs(serverPid, database));
  const serverBefore = readServerCpuMs(serverPid);
  const backendsBefore = readBackends();
  const nodeBefore = readOwnCpuMs();
  const start = performance.now();
  const latencies = await drive(doOne, inFlight, seconds);
  const elapsed = performance.now() - start;
  const nodeMs = readOwnCpuMs() - nodeBefore;
  const serverMs = readServerCpuMs(serverPid) - serverBefore;
  const backendMs = readBackends() - backendsBefore;
  const after = await counters.read();
  await end();
  await variant.restore?.();
  const sorted = Float64Array.from(latencies).sort();
  const done = latencies.length;
  return {
    done,
    perSecond: (done / elapsed) * 1000,
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    nodeMs: nodeMs / done,
    serverMs: serverMs / done,
    backendMs: backendMs / done,
    counts: countsBetween(before, after),
  };
};
