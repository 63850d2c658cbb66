// The processes that exist now: from /proc where there is one, else from ps.
// A process is identified by its number together with its start time: numbers are reused, pairs are not. A zombie is listed but
// counts as gone: it runs nothing, and only its parent can remove it.
// This file is part of the guard's program: it imports nothing but Node.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

export interface ProcessRow {
  readonly pid: number;
  readonly ppid: number;
  readonly pgid: number;
  /** 0 where the system does not say. */
  readonly session: number;
  /** Opaque; equal if and only if it is the same process. */
  readonly started: string;
  readonly zombie: boolean;
}

export type ProcessTable = ReadonlyMap<number, ProcessRow>;

// Positions after the command's closing parenthesis in /proc/<pid>/stat (proc(5), fields 3, 4, 5, 6 and 22). The
// command itself may hold spaces and parentheses, so it is skipped from the right.
const STATE = 0;
const PPID = 1;
const PGRP = 2;
const SESSION = 3;
const STARTTIME = 19;

export const tryParseProcStat = (text: string): ProcessRow | undefined => {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const pid = Number.parseInt(text, 10);
  const started = fields[STARTTIME];
  if (!Number.isSafeInteger(pid) || started === undefined) return undefined;
  const state = fields[STATE] ?? "";
  return {
    pid,
    ppid: Number(fields[PPID]),
    pgid: Number(fields[PGRP]),
    session: Number(fields[SESSION]),
    started,
    zombie: state === "Z" || state === "X",
  };
};

/** One line of `ps -o pid=,ppid=,pgid=,stat=,lstart=`; the start time is the rest of the line. */
export const tryParsePsLine = (line: string): ProcessRow | undefined => {
  const fields = line.split(" ").filter((field) => field !== "");
  const [pid, ppid, pgid, state, ...started] = fields;
  if (pid === undefined || state === undefined || started.length === 0 || !Number.isSafeInteger(Number(pid))) {
    return undefined;
  }
  return {
    pid: Number(pid),
    ppid: Number(ppid),
    pgid: Number(pgid),
    session: 0,
    started: started.join(" "),
    zombie: state.startsWith("Z"),
  };
};

const tryReadProc = (pid: number): ProcessRow | undefined => {
  try {
    return tryParseProcStat(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return undefined;
  }
};

const askPs = (selection: readonly string[]): readonly ProcessRow[] => {
  try {
    const output = execFileSync("ps", [...selection, "-o", "pid=,ppid=,pgid=,stat=,lstart="], {
      encoding: "utf8",
      env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
      stdio: ["ignore", "pipe", "ignore"],
    });
    return output.split("\n").flatMap((line) => tryParsePsLine(line) ?? []);
  } catch {
    // ps says "nothing selected" by its exit code.
    return [];
  }
};

export const hasProc = (): boolean => existsSync("/proc/self/stat");

const isNumber = (name: string): boolean => {
  const first = name.charCodeAt(0);
  return first >= 48 && first <= 57;
};

export const tryReadProcess = (pid: number): ProcessRow | undefined =>
  hasProc() ? tryReadProc(pid) : askPs(["-p", String(pid)])[0];

export const readProcessTable = (): ProcessTable => {
  const rows = hasProc()
    ? readdirSync("/proc").flatMap((name) => (isNumber(name) ? (tryReadProc(Number(name)) ?? []) : []))
    : askPs(["-A"]);
  return new Map(rows.map((row) => [row.pid, row]));
};
