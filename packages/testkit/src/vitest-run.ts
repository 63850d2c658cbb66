// Vitest global setup: a run that npm started ends when npm is killed. Without this it would not notice: the death of npm by
// SIGKILL reaches neither the shell between them nor the run, which would go on with its servers for minutes.

import { type ProcessRow, tryReadProcess } from "@toolplane/processes";
import { commandOf, isThere } from "./guarded-leftovers.ts";

// Half of what a person waits before looking whether it is gone.
const LOOK_EVERY_MS = 500;
// The run, a shell, npm; one more for a wrapper.
const MAX_ANCESTORS = 4;

/** npm sets its title to what it was asked, "npm test". */
const isNpm = (pid: number): boolean => commandOf(pid).startsWith("npm ");

/** The processes from our parent up to npm; empty when npm did not start us. */
const findStarters = (): readonly ProcessRow[] => {
  const starters: ProcessRow[] = [];
  if (process.env.npm_execpath === undefined) return starters;
  for (let pid = process.ppid; starters.length < MAX_ANCESTORS; ) {
    const row = tryReadProcess(pid);
    if (row === undefined || pid <= 1) return [];
    starters.push(row);
    if (isNpm(pid)) return starters;
    pid = row.ppid;
  }
  return [];
};

export const setup = (): (() => void) => {
  const starters = findStarters();
  // SIGKILL: the guard ends our servers, and the workers notice that we are gone.
  const look = (): void => void (starters.every(isThere) || process.kill(process.pid, "SIGKILL"));
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
};
