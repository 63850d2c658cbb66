// A program as a process of its own, so that a test can kill it, and what it says: one JSON value per line. It is
// started plainly, not guarded: it is the parent whose death is tested.

import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { UsageError } from "@toolplane/protocol";

export interface TestProgram extends AsyncDisposable {
  readonly pid: number;
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  /** The next value it says; rejects when it ends without one. */
  next(): Promise<unknown>;
  /** Signals it (SIGKILL unless told) and waits until it is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
}

/** Runs a file from source, as development does; a published file ignores the condition. */
export const runTestProgram = (file: URL, args: readonly string[] = []): TestProgram => {
  const path = fileURLToPath(file);
  const child = spawn(process.execPath, ["--conditions=source", path, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    // A group of its own, as a program in a terminal has.
    detached: true,
  });
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
      const { value, done } = await lines.next();
      if (done === true) throw new UsageError(`${path} ended without a word`);
      return JSON.parse(value) as unknown;
    },
    kill,
    [Symbol.asyncDispose]: () => kill(),
  };
};
