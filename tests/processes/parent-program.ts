// Runs one of the programs in ./programs as a process of its own, so that it can be killed, and reads what it says:
// one JSON value per line.

import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface ParentProgram extends AsyncDisposable {
  readonly pid: number;
  readonly child: ChildProcess;
  /** The next line; rejects when the program ends without one. */
  say(): Promise<unknown>;
  /** Kills it and waits until it is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
}

export const runParent = (name: string, args: readonly string[] = [], program?: string): ParentProgram => {
  const file = program ?? fileURLToPath(new URL(`./programs/${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, ["--conditions=source", file, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    // A group of its own, as a program in a terminal has.
    detached: true,
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const kill = async (signal: NodeJS.Signals = "SIGKILL"): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  return {
    pid: child.pid ?? 0,
    child,
    say: async () => {
      const { value, done } = await lines.next();
      if (done === true) throw new RangeError(`${name} ended without a word`);
      return JSON.parse(value) as unknown;
    },
    kill,
    [Symbol.asyncDispose]: () => kill(),
  };
};
