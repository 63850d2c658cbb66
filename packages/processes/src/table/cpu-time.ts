// How much CPU time a process has had: shows from outside whether it works. Only where there is /proc.

import { readFileSync } from "node:fs";

// Positions after the command's closing parenthesis in /proc/<pid>/stat (proc(5), fields 14 and 15).
const UTIME = 11;
const STIME = 12;

/** In the system's ticks, so only differences mean anything; undefined when it is gone or the system does not say. */
export const tryReadCpuTime = (pid: number): number | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields[UTIME]) + Number(fields[STIME]);
    return Number.isSafeInteger(ticks) ? ticks : undefined;
  } catch {
    return undefined;
  }
};
