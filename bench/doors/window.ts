// One window: so many calls in flight for so long, and what it took by every measure.
//   BW1. CPU and latency are of the window alone. Statements and bytes of the log are read at its two ends.
//   BW2. A session of PostgreSQL hands in its commits and syncs when it works again after a second. So before each reading
//       the harness waits that second and lets every lane make one more call; those calls are counted with the others.
//   BW3. A window in which the host took more than 5 % of the CPU is repeated; after three tries it stays, and is marked.

import { setTimeout as delay } from "node:timers/promises";
import { readOwnCpuMs, readServerCpuMs } from "../engine/process-cpu.ts";
import { ROLES, type Role, type Running, type StoreCounts } from "./contestant.ts";
import { readMachineTimes } from "./machine.ts";
import type { LoadOrder, LoadResult } from "./programs/load.ts";

const HAND_IN_MS = 1_050;
const MAX_STEAL = 0.05;
const TRIES = 3;
const LEAD_IN_SECONDS = 1;

export interface Window {
  readonly inFlight: number;
  readonly calls: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Milliseconds of CPU per call. */
  readonly cpu: Readonly<Record<Role, number>>;
  /** Per call; undefined where the store does not count it. */
  readonly perCall: StoreCounts;
  /** Shares of the machine: what the hypervisor took, and what processes used that this window does not measure. */
  readonly stolen: number;
  readonly others: number;
  /** Windows that were thrown away before this one because of steal. */
  readonly repeated: number;
}

const readCpu = ({ processes }: Running): Record<Role, number> => {
  const sum = { caller: 0, server: 0, worker: 0, store: 0 };
  for (const { role, pid } of processes) sum[role] += readServerCpuMs(pid);
  return sum;
};

/** Undefined stays undefined. */
const perCall = (after: number | undefined, before: number | undefined, calls: number): number | undefined =>
  after === undefined || before === undefined ? undefined : (after - before) / calls;

const load = (running: Running, order: LoadOrder): Promise<LoadResult> => running.caller.ask<LoadResult>(order);

/** Lets every session hand in its counts; resolves to the calls that took. */
const handIn = async (running: Running, inFlight: number): Promise<number> => {
  await delay(HAND_IN_MS);
  return (await load(running, { inFlight, seconds: 0, callsPerLane: 1 })).calls;
};

const runOnce = async (running: Running, inFlight: number, seconds: number): Promise<Window> => {
  await handIn(running, inFlight);
  const before = await running.readCounts();
  const machineBefore = readMachineTimes();
  const ownBefore = readOwnCpuMs();
  const cpuBefore = readCpu(running);
  const { calls, tookMs, p50Ms, p99Ms } = await load(running, { inFlight, seconds });
  const cpuAfter = readCpu(running);
  const own = readOwnCpuMs() - ownBefore;
  const machineAfter = readMachineTimes();
  const atEnd = await running.readCounts();
  const all = calls + (await handIn(running, inFlight));
  const handedIn = await running.readCounts();
  const used = ROLES.reduce((sum, role) => sum + cpuAfter[role] - cpuBefore[role], 0);
  const total = machineAfter.totalMs - machineBefore.totalMs;
  const cpuOf = (role: Role): number => (cpuAfter[role] - cpuBefore[role]) / calls;
  return {
    inFlight,
    calls,
    perSecond: (calls / tookMs) * 1000,
    p50Ms,
    p99Ms,
    cpu: { caller: cpuOf("caller"), server: cpuOf("server"), worker: cpuOf("worker"), store: cpuOf("store") },
    perCall: {
      statements: perCall(atEnd.statements, before.statements, calls),
      bytes: perCall(atEnd.bytes, before.bytes, calls),
      commits: perCall(handedIn.commits, before.commits, all),
      syncs: perCall(handedIn.syncs, before.syncs, all),
    },
    stolen: (machineAfter.stolenMs - machineBefore.stolenMs) / total,
    others: Math.max(0, (machineAfter.busyMs - machineBefore.busyMs - used - own) / total),
    repeated: 0,
  };
};

export const runWindow = async (running: Running, inFlight: number, seconds: number): Promise<Window> => {
  await load(running, { inFlight, seconds: Math.min(LEAD_IN_SECONDS, seconds) });
  for (let repeated = 0; ; repeated++) {
    const window = await runOnce(running, inFlight, seconds);
    if (window.stolen <= MAX_STEAL || repeated + 1 === TRIES) return { ...window, repeated };
  }
};
