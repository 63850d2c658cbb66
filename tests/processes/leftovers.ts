// Looking for processes: whether some are still there, and waiting until they are not.

import { type ProcessRow, readProcessTable, tryReadProcess } from "@toolplane/processes";
import { vi } from "vitest";

/** Everything that descends from `pid`, zombies left out. */
export const findDescendants = (pid: number): readonly ProcessRow[] => {
  const rows = [...readProcessTable().values()];
  const found: ProcessRow[] = [];
  const parents = [pid];
  for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
    for (const row of rows) {
      if (row.ppid !== parent) continue;
      parents.push(row.pid);
      if (!row.zombie) found.push(row);
    }
  }
  return found;
};

export const isRunning = (pid: number): boolean => tryReadProcess(pid)?.zombie === false;

/** A process that is later recognised even if its number is used again. */
export const remember = (pid: number): ProcessRow => {
  const row = tryReadProcess(pid);
  if (row === undefined) throw new RangeError(`process ${pid} is not there`);
  return row;
};

export const isThere = (known: ProcessRow): boolean => {
  const row = tryReadProcess(known.pid);
  return row !== undefined && !row.zombie && row.started === known.started;
};

/** Resolves when `condition` holds; fails with its description after `timeout` milliseconds. */
export const until = (what: string, condition: () => boolean, timeout: number): Promise<void> =>
  vi.waitFor(
    () => {
      if (!condition()) throw new RangeError(`still waiting: ${what}`);
    },
    { timeout, interval: 10 },
  );

export const untilGone = (processes: readonly ProcessRow[], timeout: number): Promise<void> =>
  until(`${processes.map(({ pid }) => pid).join(", ")} to go`, () => !processes.some(isThere), timeout);
