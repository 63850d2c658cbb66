// Reads postmaster.pid and says whether a server is alive on a cluster.
// The file survives a killed server, and its process number may belong to another program by then. So the file only names the
// server, and the process itself is checked.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { tryReadProcess } from "../table/process-table.ts";
import { readClusterProcesses } from "./cluster-processes.ts";

/** The lines of postmaster.pid that matter. */
export interface PostmasterFile {
  readonly pid: number;
  readonly port: number;
  /** Absent until the server has opened its socket. */
  readonly socketDir: string | undefined;
  readonly status: string;
}

export interface PostgresProbe {
  /**
   * `none`: no server and no trace of one; `stale`: traces of a dead one, which a start clears by itself;
   * `foreign`: traces of a dead one whose process number another program has now; `live`: a server is at work.
   */
  readonly state: "none" | "stale" | "foreign" | "live";
  readonly file: PostmasterFile | undefined;
}

const nonEmpty = (line: string | undefined): string | undefined =>
  line === undefined || line.trim() === "" ? undefined : line.trim();

export const tryParsePostmasterFile = (text: string): PostmasterFile | undefined => {
  const lines = text.split("\n");
  const pid = Number(nonEmpty(lines[0]) ?? Number.NaN);
  if (!Number.isSafeInteger(pid) || pid === 0) return undefined;
  return {
    // A negative number is a server in single-user mode.
    pid: Math.abs(pid),
    port: Number(nonEmpty(lines[3]) ?? 0),
    socketDir: nonEmpty(lines[4]),
    status: nonEmpty(lines[7]) ?? "starting",
  };
};

const isAlive = (pid: number): boolean => {
  const row = tryReadProcess(pid);
  return row !== undefined && !row.zombie;
};

/** `clusterName` is only needed where processes cannot be found by their directory. */
export const probeCluster = (cluster: string, clusterName: string): PostgresProbe => {
  const path = join(cluster, "postmaster.pid");
  if (!existsSync(path)) return { state: "none", file: undefined };
  const file = tryParsePostmasterFile(readFileSync(path, "utf8"));
  // An empty file is what a server leaves that was killed while writing it; the next one refuses to start on it.
  if (file === undefined) return { state: "foreign", file };
  const atWork = readClusterProcesses(cluster, clusterName);
  if (atWork.some(({ pid, child }) => pid === file.pid && !child)) return { state: "live", file };
  return { state: isAlive(file.pid) ? "foreign" : "stale", file };
};
