// Reads postmaster.pid and says whether a server is alive on a cluster.
// The file outlives a killed server and its process number may belong to somebody else by then, so a live process
// counts only when it works in the cluster's directory (a server changes into it) or names it on its command line.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";

/** The lines of postmaster.pid that matter. */
export interface PostmasterFile {
  readonly pid: number;
  readonly port: number;
  /** Absent until the server has opened its socket. */
  readonly socketDir: string | undefined;
  readonly sharedMemoryId: number | undefined;
  readonly status: string;
}

export interface PostgresProbe {
  /** `none`: nothing there; `stale`: a file without its server; `live`: a server works on this cluster. */
  readonly state: "none" | "stale" | "live";
  readonly file: PostmasterFile | undefined;
}

const nonEmpty = (line: string | undefined): string | undefined =>
  line === undefined || line.trim() === "" ? undefined : line.trim();

export const tryParsePostmasterFile = (text: string): PostmasterFile | undefined => {
  const lines = text.split("\n");
  const pid = Number(lines[0]);
  // A negative number is a single-user server; it counts by its size.
  if (!Number.isSafeInteger(pid) || pid === 0) return undefined;
  const memory = nonEmpty(lines[6])?.split(" ").at(-1);
  return {
    pid: Math.abs(pid),
    port: Number(nonEmpty(lines[3]) ?? 0),
    socketDir: nonEmpty(lines[4]),
    sharedMemoryId: memory === undefined ? undefined : Number(memory),
    status: nonEmpty(lines[7]) ?? "starting",
  };
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "EPERM";
  }
};

const worksOn = (pid: number, cluster: string): boolean => {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster);
  } catch {
    // No /proc here, or not ours to read: ask ps.
  }
  try {
    const command = execFileSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" });
    return command.includes("postgres") && command.includes(cluster);
  } catch {
    return false;
  }
};

export const readPostmasterFile = (cluster: string): PostmasterFile | undefined => {
  const path = join(cluster, "postmaster.pid");
  return existsSync(path) ? tryParsePostmasterFile(readFileSync(path, "utf8")) : undefined;
};

export const probeCluster = (cluster: string): PostgresProbe => {
  const file = readPostmasterFile(cluster);
  if (file === undefined) return { state: existsSync(join(cluster, "postmaster.pid")) ? "stale" : "none", file };
  return { state: isAlive(file.pid) && worksOn(file.pid, cluster) ? "live" : "stale", file };
};
