// Finds processes that left the family of a watched process: forked twice, in a session of their own, their parent gone.
// No number ties them to it any more, but two things are inherited that a process cannot easily lose:
// KN1. The mark: a random variable in the environment a guarded process is started with. It stays readable in the process
//     table for as long as the process lives, unless it was started again with an environment made from nothing.
// KN2. The user, when the process was given one that nobody else has. Only root can change it, so nothing gets away.
// This file is part of the guard's program: it imports nothing but Node and its neighbours.

import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { hasProc, type ProcessRow, type ProcessTable } from "./process-table.ts";

/** The variable that carries the mark. */
export const MARK_NAME = "TOOLPLANE_MARK";

export interface Kinship {
  /** The start of the process they come from, if it is known: nothing older is of its kind. */
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
    // Gone, or of a user we may not look at; such a process is not ours.
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

/** Looks at each process once: what was no kin when it was first seen does not become kin. */
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

/** Ends everything of a user in one step of the kernel, so that processes which fork faster than we look end too. */
export const killUser = (uid: number): void => {
  spawnSync("/bin/sh", ["-c", "kill -9 -1"], { uid, gid: uid, cwd: "/", env: {}, stdio: "ignore" });
};
