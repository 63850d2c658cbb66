// What a family of processes costs: memory as the kernel divides shared pages (PSS), memory as people count it (RSS), and
// processor time. Linux only; elsewhere there is nothing to read.

import { readFileSync } from "node:fs";

export interface Footprint {
  readonly processes: number;
  readonly pssMb: number;
  readonly rssMb: number;
  readonly cpuSeconds: number;
}

/** Clock ticks a second; every Linux we run on. */
const TICKS = 100;
const KB_PER_MB = 1_024;

const readKb = (text: string, name: string): number => {
  const line = text.split("\n").find((one) => one.startsWith(`${name}:`));
  return Number(line?.split(" ").findLast((word) => word !== "" && word !== "kB") ?? 0);
};

const readCpuTicks = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
};

const readOne = (pid: number): Footprint | undefined => {
  try {
    const memory = readFileSync(`/proc/${pid}/smaps_rollup`, "latin1");
    return {
      processes: 1,
      pssMb: readKb(memory, "Pss") / KB_PER_MB,
      rssMb: readKb(memory, "Rss") / KB_PER_MB,
      cpuSeconds: readCpuTicks(pid) / TICKS,
    };
  } catch {
    return undefined;
  }
};

export const readFootprint = (pids: readonly number[]): Footprint =>
  pids
    .flatMap((pid) => readOne(pid) ?? [])
    .reduce(
      (sum, one) => ({
        processes: sum.processes + one.processes,
        pssMb: sum.pssMb + one.pssMb,
        rssMb: sum.rssMb + one.rssMb,
        cpuSeconds: sum.cpuSeconds + one.cpuSeconds,
      }),
      { processes: 0, pssMb: 0, rssMb: 0, cpuSeconds: 0 },
    );
