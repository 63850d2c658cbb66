// Finds the processes of database servers at work on a cluster. A server changes into its cluster's directory, and its children
// have titles like "postgres: <cluster name>: ...", so no file has to be trusted.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { tryReadProcess } from "../table/process-table.ts";

export interface ClusterProcess {
  readonly pid: number;
  readonly ppid: number;
  /** A backend or helper of a server, not the server itself. */
  readonly child: boolean;
}

const CHILD_TITLE = "postgres: ";

const tryReadFromProc = (name: string, directory: string): ClusterProcess | undefined => {
  try {
    if (readlinkSync(`/proc/${name}/cwd`) !== directory) return undefined;
    // A shell or an editor may also have this working directory.
    if (readFileSync(`/proc/${name}/comm`, "latin1").trim() !== "postgres") return undefined;
    const row = tryReadProcess(Number(name));
    if (row === undefined || row.zombie) return undefined;
    const child = readFileSync(`/proc/${name}/cmdline`, "latin1").startsWith(CHILD_TITLE);
    return { pid: row.pid, ppid: row.ppid, child };
  } catch {
    return undefined;
  }
};

const readFromProc = (cluster: string): readonly ClusterProcess[] => {
  const directory = realpathSync(cluster);
  return readdirSync("/proc").flatMap((name) => tryReadFromProc(name, directory) ?? []);
};

/** One line of `ps -o pid=,ppid=,command=` */
export const tryParseCommandLine = (line: string, cluster: string, clusterName: string): ClusterProcess | undefined => {
  const [pid, ppid, ...words] = line
    .trim()
    .split(" ")
    .filter((word) => word !== "");
  const command = words.join(" ");
  const child = command.startsWith(`${CHILD_TITLE}${clusterName}: `);
  const server = words[0]?.endsWith("postgres") === true && words.includes(cluster);
  return child || server ? { pid: Number(pid), ppid: Number(ppid), child } : undefined;
};

const readFromPs = (cluster: string, clusterName: string): readonly ClusterProcess[] => {
  const output = execFileSync("ps", ["-A", "-ww", "-o", "pid=,ppid=,command="], { encoding: "utf8" });
  return output.split("\n").flatMap((line) => tryParseCommandLine(line, cluster, clusterName) ?? []);
};

export const readClusterProcesses = (cluster: string, clusterName: string): readonly ClusterProcess[] => {
  try {
    return process.platform === "linux" ? readFromProc(cluster) : readFromPs(cluster, clusterName);
  } catch {
    // There is no such cluster yet.
    return [];
  }
};

/** Children whose server is dead: their parent is not one of the cluster's processes. */
export const planOrphans = (processes: readonly ClusterProcess[]): readonly number[] => {
  const known = new Set(processes.map(({ pid }) => pid));
  return processes.filter(({ child, ppid }) => child && !known.has(ppid)).map(({ pid }) => pid);
};
