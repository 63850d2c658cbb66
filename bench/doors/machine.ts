// The machine a run was made on, and how much of it others took: stolen by the host, or used by other processes.

import { readFileSync, statfsSync } from "node:fs";
import { cpus, loadavg, tmpdir, totalmem } from "node:os";

export interface MachineTimes {
  readonly totalMs: number;
  readonly busyMs: number;
  readonly stolenMs: number;
}

const MS_PER_TICK = 10;

/** The first line of /proc/stat: user nice system idle iowait irq softirq steal, in ticks. */
export const parseMachineTimes = (text: string): MachineTimes => {
  const ticks = (text.split("\n")[0] ?? "").trim().split(/\s+/).slice(1, 9).map(Number);
  const total = ticks.reduce((sum, value) => sum + value, 0);
  const [idle = 0, wait = 0] = ticks.slice(3, 5);
  const stolen = ticks[7] ?? 0;
  return {
    totalMs: total * MS_PER_TICK,
    busyMs: (total - idle - wait - stolen) * MS_PER_TICK,
    stolenMs: stolen * MS_PER_TICK,
  };
};

export const readMachineTimes = (): MachineTimes => parseMachineTimes(readFileSync("/proc/stat", "latin1"));

const FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0xef53, "ext4"],
  [0x58465342, "xfs"],
  [0x9123683e, "btrfs"],
  [0x794c7630, "overlay"],
  [0x01021994, "tmpfs (memory: a sync costs nothing)"],
]);

export interface MachineFacts {
  readonly cpus: number;
  readonly model: string;
  readonly memoryGb: number;
  readonly node: string;
  readonly system: string;
  readonly disk: string;
  readonly load: number;
}

export const readMachineFacts = (): MachineFacts => ({
  cpus: cpus().length,
  model: cpus()[0]?.model ?? "unknown",
  memoryGb: Math.round(totalmem() / 1024 ** 3),
  node: process.version,
  system: `${process.platform} ${process.arch}`,
  disk: FILE_SYSTEMS.get(statfsSync(tmpdir()).type) ?? "another file system",
  load: loadavg()[0] ?? 0,
});
