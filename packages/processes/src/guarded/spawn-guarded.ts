// Starts a child in its own process group.

import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { ToolplaneError, UsageError } from "@toolplane/protocol";

export interface ExitStatus {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface GuardedOptions {
  /** What this process is, for people: "postgres", "host text". */
  readonly label: string;
  /** Exactly what the child gets; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
  readonly stdio?: StdioOptions;
}

export interface GuardedProcess {
  readonly pid: number;
  readonly child: ChildProcess;
  readonly exited: Promise<ExitStatus>;
  /** Signals the whole group; false when nobody is left in it. */
  kill(signal?: NodeJS.Signals): boolean;
}

const signalGroup = (pid: number, signal: NodeJS.Signals): boolean => {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
};

export const spawnGuarded = async (argv: readonly string[], options: GuardedOptions): Promise<GuardedProcess> => {
  const [command, ...args] = argv;
  if (command === undefined) throw new UsageError("spawnGuarded needs a command");
  const child = spawn(command, args, {
    cwd: options.cwd ?? "/",
    env: { ...options.env },
    stdio: options.stdio ?? ["ignore", "ignore", "ignore"],
    detached: true,
    ...(options.uid === undefined ? {} : { uid: options.uid }),
    ...(options.gid === undefined ? {} : { gid: options.gid }),
  });
  const exited = new Promise<ExitStatus>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  try {
    await once(child, "spawn");
  } catch (cause) {
    throw new ToolplaneError("upstream_unavailable", `${options.label}: cannot start ${command}`, { cause });
  }
  const pid = child.pid ?? 0;
  return { pid, child, exited, kill: (signal = "SIGTERM") => signalGroup(pid, signal) };
};
