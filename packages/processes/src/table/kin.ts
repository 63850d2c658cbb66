// Finds processes that left the family of a watched process: forked twice, in a session of their own, their parent gone. No
// process number connects them to it any more, but two inherited things are hard to lose:
// KN1. The mark: a random variable in the environment of a guarded process. It stays readable in the process table while the
//     process lives, unless the process was started again with an empty environment.
// KN2. The user, when the process has one that nothing else uses. Only root can change it, so no process escapes.
// This file is part of the guard's program: it imports nothing but Node and its neighbours.

import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { hasProc, type ProcessRow, type ProcessTable } from "./process-table.ts";

/** The variable that carries the mark. */
export const MARK_NAME = "TOOLPLANE_MARK";

export interface Kinship {
  /** The start time of their ancestor, if known: an older process is not a descendant. */
  readonly started: string | undefined;
  readonly mark?: string | undefined;
  /** A user under which nothing else runs. */
  readonly soleUid?: number | undefined;
}

export const identityOf = (row: ProcessRow): string => `${row.pid}/${row.started}`;

const readText = (path: string): string => {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // Gone, or owned by a user whose processes we may not read; such a process is not ours.
    return "";
  }
};

/** Real, effective and saved user ids of /proc/<pid>/status. */
export const parseUids = (status: string): readonly number[] => {
  const at = status.indexOf("\nUid:");
  if (at < 0) return [];
  const line = status.slice(at + "\nUid:".length, status.indexOf("\n", at + 1));
  return line
    .split("\t")
    .filter((field) => field !== "")
    .map(Number);
};

const isKin = (pid: number, { mark, soleUid }: Kinship): boolean =>
  (mark !== undefined && readText(`/proc/${pid}/environ`).includes(`${MARK_NAME}=${mark}`)) ||
  (soleUid !== undefined && parseUids(readText(`/proc/${pid}/status`)).includes(soleUid));

/** One line of `ps -E -o pid=,uid=,command=`: the command is followed by the environment, where we may see it. */
export const isKinLine = (line: string, { mark, soleUid }: Kinship): boolean => {
  const [, uid] = line.trim().split(/ +/, 2);
  return (mark !== undefined && line.includes(`${MARK_NAME}=${mark}`)) || Number(uid) === soleUid;
};

const askPs = (kinship: Kinship): ReadonlySet<number> => {
  try {
    const output = execFileSync("ps", ["-A", "-E", "-ww", "-o", "pid=,uid=,command="], {
      encoding: "utf8",
      env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
      stdio: ["ignore", "pipe", "ignore"],
      maxBuffer: 256 * 1024 * 1024,
    });
    const lines = output.split("\n").filter((line) => isKinLine(line, kinship));
    return new Set(lines.map((line) => Number.parseInt(line, 10)));
  } catch {
    return new Set();
  }
};

/** Start times are ticks where there is /proc; elsewhere they cannot be compared, and nothing counts as older. */
const isOlder = (row: ProcessRow, started: string | undefined): boolean => Number(row.started) < Number(started);

/** Looks at each process once: a process that was not a descendant when first seen does not become one. */
export const createKinFinder = (kinship: Kinship): ((table: ProcessTable) => readonly ProcessRow[]) => {
  if (kinship.mark === undefined && kinship.soleUid === undefined) return () => [];
  const strangers = new Set<string>();
  const isNew = (row: ProcessRow): boolean =>
    !row.zombie && !strangers.has(identityOf(row)) && !isOlder(row, kinship.started);
  return (table) => {
    const rows = [...table.values()].filter(isNew);
    const listed = hasProc() ? undefined : askPs(kinship);
    const kin = rows.filter(({ pid }) => (listed === undefined ? isKin(pid, kinship) : listed.has(pid)));
    const found = new Set(kin.map(identityOf));
    for (const row of rows) if (!found.has(identityOf(row))) strangers.add(identityOf(row));
    return kin;
  };
};

/** Ends all processes of a user in one kernel call, so that processes that fork faster than we look end too. */
export const killUser = (uid: number): void => {
  spawnSync("/bin/sh", ["-c", "kill -9 -1"], { uid, gid: uid, cwd: "/", env: {}, stdio: "ignore" });
};
