// Looking for processes: whether some are still there, and waiting until they are not.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { type ProcessRow, processGuard, readProcessTable, tryReadProcess } from "@toolplane/processes";
import { ToolplaneError, UsageError } from "@toolplane/protocol";

const POLL_MS = 10;

/**
 * Everything that descends from `pid`, zombies left out. The rows are remembered as they are: a process may end before it is
 * looked at again, for example a worker of the database.
 */
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

/** What this process has started and not ended, its guard left out: a test file expects this to be empty. */
export const findLeftovers = (): readonly ProcessRow[] =>
  findDescendants(process.pid).filter(({ pid }) => pid !== processGuard().pid);

/** The same for a test file that shares its process: `before` is what others had left when the file began. */
export const findLeftoversSince = (before: readonly ProcessRow[]): readonly ProcessRow[] =>
  findLeftovers().filter(({ pid, started }) => !before.some((known) => known.pid === pid && known.started === started));

export const isRunning = (pid: number): boolean => tryReadProcess(pid)?.zombie === false;

/** What a process was started as, its arguments included. Small Linux images have no ps, other systems no /proc. */
export const commandOf = (pid: number): string => {
  try {
    return existsSync("/proc/self/cmdline")
      ? readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")
      : execFileSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], { encoding: "utf8" });
  } catch {
    return "";
  }
};

/** A process that is later recognised even if its number is used again. */
export const rememberProcess = (pid: number): ProcessRow => {
  const row = tryReadProcess(pid);
  if (row === undefined) throw new UsageError(`there is no process ${pid}`);
  return row;
};

export const isThere = (known: ProcessRow): boolean => {
  const row = tryReadProcess(known.pid);
  return row !== undefined && !row.zombie && row.started === known.started;
};

/** Far more than anything takes that is waited for: a busy machine is not a failure. */
const PATIENCE_MS = 60_000;

/** Resolves when `condition` holds; fails naming what was waited for after `timeoutMs`. */
export const until = async (
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = PATIENCE_MS,
): Promise<void> => {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new ToolplaneError("tool_timeout", `waited ${timeoutMs} ms for ${what}`);
    await delay(POLL_MS);
  }
};

export const untilGone = (processes: readonly ProcessRow[], timeoutMs = PATIENCE_MS): Promise<void> =>
  until(`${processes.map(({ pid }) => pid).join(", ")} to go`, () => !processes.some(isThere), timeoutMs);
