// Starts a child that cannot outlive us: in a process group of its own, known to the guard before it runs anything.
// SG1. The program runs only after the guard has confirmed its process (the gate), so our death never leaves it behind.
// SG2. When the leader exits, the rest of its family is ended the same way, and only then is the entry removed. That includes
//     processes that forked twice into a session of their own: they carry the mark of their ancestor, a random variable, and its
//     user number when that is used by nothing else (table/kin.ts).
// SG3. No signal is sent to a group that has ended: its number may belong to another group.

import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { ToolplaneError, UsageError } from "@toolplane/protocol";
import { type Guard, processGuard } from "../guard/guard.ts";
import { endFamilies } from "../table/end-family.ts";
import { MARK_NAME } from "../table/kin.ts";
import { tryReadProcess } from "../table/process-table.ts";
import { tryFindProgram } from "./find-program.ts";
import { GATE_LIMIT, openGate, passableEnv, planGatedArgs, planStdio, shutGate } from "./gate.ts";

export interface ExitStatus {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** How a process is asked to go, and how long it may take before SIGKILL. */
export interface Farewell {
  readonly signal?: NodeJS.Signals;
  readonly graceMs?: number;
}

export interface GuardedOptions extends Farewell {
  /** What this process is, for people: "postgres", "host text". */
  readonly label: string;
  /** Exactly what the child gets, and the mark; nothing is inherited. Names that are not shell identifiers are left out. */
  readonly env: Readonly<Record<string, string>>;
  /** Where it starts; the root directory unless given. */
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
  /** Only this child runs under `uid`: then every process with that uid is ended with it. */
  readonly soleUser?: boolean;
  /** As for child_process; all ignored unless given. At most nine descriptors. */
  readonly stdio?: StdioOptions;
  /** Removed by the guard if we die first. */
  readonly removeDir?: string;
  /** This process's own guard unless given. */
  readonly guard?: Guard;
}

export interface GuardedProcess {
  readonly pid: number;
  /** For its streams and `channel`; signals go through `kill` and `end`, which reach the whole group. */
  readonly child: ChildProcess;
  /** The leader has exited. */
  readonly exited: Promise<ExitStatus>;
  /** The leader has exited and nothing of its family is left. */
  readonly ended: Promise<ExitStatus>;
  /** Signals the whole group; false when it has ended. */
  kill(signal?: NodeJS.Signals): boolean;
  /** Signal, grace, SIGKILL; resolves when nothing is left, its escaped descendants included. */
  end(farewell?: Farewell): Promise<ExitStatus>;
}

const SHELL = "/bin/sh";
const DEFAULT_GRACE_MS = 1000;
const MARK_BYTES = 16;

const checkArgv = (argv: readonly string[], options: GuardedOptions): readonly string[] => {
  const [name, ...args] = argv;
  if (name === undefined) throw new UsageError(`${options.label}: no command was given`);
  const program = tryFindProgram(name, options.env.PATH, options.cwd ?? "/");
  if (program === undefined)
    throw new ToolplaneError("not_found", `${options.label}: there is no program ${name}`, {
      detail: { todo: "see that it is installed, spelled right, and may be executed (chmod +x)" },
    });
  return [program, ...args];
};

const spawnBehindGate = (
  argv: readonly string[],
  options: GuardedOptions,
  mark: string,
): { child: ChildProcess; gate: number } => {
  const stdio = planStdio(options.stdio);
  const gate = stdio.length;
  if (gate > GATE_LIMIT) throw new UsageError(`${options.label}: at most ${GATE_LIMIT} descriptors`);
  const env = { ...passableEnv(options.env), [MARK_NAME]: mark };
  const child = spawn(SHELL, planGatedArgs(argv, gate, env), {
    cwd: options.cwd ?? "/",
    env,
    stdio: [...stdio, "pipe"],
    detached: true,
    ...(options.uid === undefined ? {} : { uid: options.uid }),
    ...(options.gid === undefined ? {} : { gid: options.gid }),
  });
  return { child, gate };
};

const untilStarted = (child: ChildProcess, label: string): Promise<void> =>
  new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (cause) => {
      reject(new ToolplaneError("upstream_unavailable", `${label}: cannot be started: ${cause.message}`, { cause }));
    });
  });

/** Resolves when the program is running (or has already exited). */
export const spawnGuarded = async (argv: readonly string[], options: GuardedOptions): Promise<GuardedProcess> => {
  const guard = options.guard ?? processGuard();
  const { label, signal = "SIGTERM", graceMs = DEFAULT_GRACE_MS, removeDir } = options;
  const mark = randomBytes(MARK_BYTES).toString("hex");
  const kinship = { mark, ...(options.soleUser === true && options.uid !== undefined ? { soleUid: options.uid } : {}) };
  const { child, gate } = spawnBehindGate(checkArgv(argv, options), options, mark);
  const { pid } = child;
  const exited = new Promise<ExitStatus>((resolve) => {
    child.once("exit", (code, bySignal) => resolve({ code, signal: bySignal }));
  });
  if (pid === undefined) {
    await untilStarted(child, label);
    throw new UsageError(`${label}: started without a process number`);
  }
  // Read before anything is awaited: until our event loop runs again, the number certainly belongs to our child.
  const leader = { pid, started: tryReadProcess(pid)?.started, ...kinship };
  const removal = removeDir === undefined ? {} : { removeDir };
  const watching = guard.watch({ label, pid, signal, graceMs, ...kinship, ...removal });
  let over = false;
  const conclude = async (): Promise<ExitStatus> => {
    const status = await exited;
    await endFamilies([{ leader, signal, graceMs }]);
    over = true;
    // A closed or failed guard watches nothing, so there is nothing to undo.
    await watching.then((watch) => watch.forget()).catch(() => undefined);
    return status;
  };
  const ended = conclude();
  try {
    await watching;
  } catch (cause) {
    shutGate(child, gate);
    await ended;
    throw cause;
  }
  openGate(child, gate);
  return {
    pid,
    child,
    exited,
    ended,
    kill: (wanted = "SIGTERM") => !over && signalGroup(pid, wanted),
    end: async (farewell = {}) => {
      if (!over) {
        await endFamilies([{ leader, signal: farewell.signal ?? signal, graceMs: farewell.graceMs ?? graceMs }]);
      }
      return ended;
    },
  };
};

const signalGroup = (pid: number, signal: NodeJS.Signals): boolean => {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
};
