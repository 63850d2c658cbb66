// The user that the database server runs as, and whether that user can reach a directory.
// PostgreSQL refuses to run as root, so a root parent gives it a uid that nothing else on the machine uses: with a shared user
// such as `nobody`, every other process of that user could read the database's files. Reachability is tried, not computed: mode bits do
// not show access lists, mount options or user namespaces.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The database's own uid and gid. No distribution gives this range to anybody (systemd lists 60578 to 61183 as unused),
 * and it is below 65536, so it exists in a container with the usual map of users. It needs no account.
 */
const DATABASE_ID = 60_742;

// What Linux and macOS fall back to when the account file cannot be read; -2 on macOS, 65534 elsewhere.
const FALLBACK_NOBODY = process.platform === "darwin" ? 4_294_967_294 : 65_534;

/** The `nobody` line of an account file. */
export const tryParseNobody = (passwd: string): RunAs | undefined => {
  for (const line of passwd.split("\n")) {
    const [name, , uid, gid] = line.split(":");
    if (name !== "nobody" || uid === undefined || gid === undefined) continue;
    const parsed = { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
    if (parsed.uid !== 0) return parsed;
  }
  return undefined;
};

const readAccounts = (): string => {
  try {
    return readFileSync("/etc/passwd", "utf8");
  } catch {
    return "";
  }
};

const findNobody = (): RunAs => tryParseNobody(readAccounts()) ?? { uid: FALLBACK_NOBODY, gid: FALLBACK_NOBODY };

/** The user a server started by this process runs as; undefined means "as ourselves". */
export const pickRunAs = (): RunAs | undefined =>
  process.getuid?.() === 0 ? { uid: DATABASE_ID, gid: DATABASE_ID } : undefined;

/**
 * The user that runs initdb, which refuses a uid without an account. The group is the database's: another process of this
 * account has another group, so it can neither enter the folder the cluster is made in nor look into initdb's memory.
 */
export const pickMaker = (runAs: RunAs | undefined): RunAs | undefined =>
  runAs?.uid === DATABASE_ID ? { uid: findNobody().uid, gid: runAs.gid } : runAs;

/** The user earlier versions ran the server as. */
export const pickPreviousRunAs = (): RunAs | undefined => (process.getuid?.() === 0 ? findNobody() : undefined);

/** Spawn options that make a child that user; the parent's directory may be closed to it, so it starts at the root. */
export const asUser = (runAs: RunAs | undefined): { cwd: string; uid?: number; gid?: number } =>
  runAs === undefined ? { cwd: "/" } : { cwd: "/", uid: runAs.uid, gid: runAs.gid };

/** True when that user can enter `directory` and read `file` in it (when given). */
export const canReach = (directory: string, runAs: RunAs | undefined, file?: string): boolean => {
  const script = 'cd -- "$1" 2>/dev/null && { [ -z "$2" ] || [ -x "$2" ]; }';
  const probe = spawnSync("/bin/sh", ["-c", script, "sh", directory, file ?? ""], {
    ...asUser(runAs),
    env: {},
    stdio: "ignore",
  });
  return probe.status === 0;
};
