// A program as a process of its own, so that a test can kill it, and what it says: one JSON value per line. It is
// started plainly, not behind the gate of `spawnGuarded`: it is the parent whose death is tested. The guard of the test
// run knows it all the same, because the run may be killed first.

import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { processGuard } from "@toolplane/processes";
import { UsageError } from "@toolplane/protocol";
import { programArgv } from "./program-argv.ts";

export interface TestProgram extends AsyncDisposable {
  readonly pid: number;
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  /** The next value it says; rejects when it ends without one. */
  next(): Promise<unknown>;
  /** Signals it (SIGKILL unless told) and waits until it is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
}

// What the program's own guard needs to end what it started, before the run's guard ends that too.
const OWN_GUARD_MS = 1500;

/** Ends a program, should the test run be killed before it; to be called right after it was started. */
export const guardProgram = (child: ChildProcess, label: string): Promise<void> => {
  if (child.pid === undefined) return Promise.resolve();
  const watching = processGuard().watch({ label, pid: child.pid, signal: "SIGKILL", graceMs: OWN_GUARD_MS });
  child.once("exit", () => void watching.then((watch) => watch.forget()).catch(() => undefined));
  return watching.then(() => undefined);
};

/** Runs a file of the repository, or a published one, which ignores the condition for sources. */
export const runTestProgram = (file: URL, args: readonly string[] = []): TestProgram => {
  const path = fileURLToPath(file);
  const [node, ...program] = programArgv(file);
  const child = spawn(node, [...program, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    // A group of its own, as a program in a terminal has.
    detached: true,
  });
  const guarded = guardProgram(child, path);
  // A test that waits for its first line gets the failure of its guard.
  guarded.catch(() => undefined);
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const kill = async (signal: NodeJS.Signals = "SIGKILL"): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  return {
    pid: child.pid ?? 0,
    child,
    exited,
    next: async () => {
      await guarded;
      const { value, done } = await lines.next();
      if (done === true) throw new UsageError(`${path} ended without a word`);
      return JSON.parse(value) as unknown;
    },
    kill,
    [Symbol.asyncDispose]: () => kill(),
  };
};
