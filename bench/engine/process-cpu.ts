// CPU time of a server and everything it forked, from /proc. Children that are gone are in their parent's accounts.
// Linux only; the clock tick is 10 ms, so windows of a second or more are exact to a percent.

import { readFileSync } from "node:fs";
import { readProcessTable } from "@toolplane/processes";

const MS_PER_TICK = 10;

interface ProcessTimes {
  readonly ownMs: number;
  /** Of children that were waited for. */
  readonly goneChildrenMs: number;
}

const tryReadTimes = (pid: number): ProcessTimes | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name is in parentheses and may hold blanks; after it come fields 3 and up of proc(5).
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = (field: number): number => Number(fields[field - 3]);
    return {
      ownMs: (ticks(14) + ticks(15)) * MS_PER_TICK,
      goneChildrenMs: (ticks(16) + ticks(17)) * MS_PER_TICK,
    };
  } catch {
    return undefined;
  }
};

/** What a process of the server calls itself: `postgres: <user> <database> <address> <activity>`. */
const titleOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
};

/** Milliseconds of user and system time the server and its processes have used so far. */
export const readServerCpuMs = (serverPid: number): number => {
  const pids = [serverPid];
  for (const row of readProcessTable().values()) if (row.ppid === serverPid) pids.push(row.pid);
  let total = tryReadTimes(serverPid)?.goneChildrenMs ?? 0;
  for (const pid of pids) total += tryReadTimes(pid)?.ownMs ?? 0;
  return total;
};

/** The same of the connections to one database alone: what its calls cost, whatever the server does beside them. */
export const readBackendCpuMs = (serverPid: number, database: string): number => {
  let total = 0;
  for (const row of readProcessTable().values())
    if (row.ppid === serverPid && titleOf(row.pid).includes(` ${database} `))
      total += tryReadTimes(row.pid)?.ownMs ?? 0;
  return total;
};

export const readOwnCpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
