// Programs that tests run for real: guarded, so that none outlives the test run, with all their output kept for the test.

import { type ExitStatus, type GuardedProcess, spawnGuarded } from "@toolplane/processes";
import { watchOutput } from "@toolplane/testkit";

export interface ProgramOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly stdin?: string | undefined;
}

export interface Program extends AsyncDisposable {
  readonly process: GuardedProcess;
  out(): string;
  err(): string;
  /** Resolves when `found` sees what it looks for in all that was said so far; rejects when the program ends first. */
  until<T>(what: string, found: (out: string, err: string) => T | undefined, timeoutMs?: number): Promise<T>;
  /** Signals the program alone, as a person does with `kill`. */
  signal(signal: NodeJS.Signals): void;
  readonly ended: Promise<ExitStatus>;
}

export interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const DEFAULT_TIMEOUT_MS = 60_000;

/** Only what a program needs; a variable of the developer's shell must not decide a test. */
const plainEnv = (): Record<string, string> => {
  const kept = ["PATH", "HOME", "LANG", "TMPDIR", "NODE_COMPILE_CACHE"];
  return Object.fromEntries(
    kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
};

export const startProgram = async (argv: readonly string[], options: ProgramOptions): Promise<Program> => {
  const child = await spawnGuarded(argv, {
    label: argv.join(" ").slice(0, 80),
    env: { ...plainEnv(), NO_COLOR: "1", PYTHONDONTWRITEBYTECODE: "1", ...options.env },
    cwd: options.cwd,
    stdio: [options.stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    graceMs: 30_000,
  });
  let [out, err] = ["", ""];
  const watch = watchOutput(() => `${out}\n${err}`);
  child.child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    watch.heard();
  });
  child.child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    err += text;
    watch.heard();
  });
  // `close`, not `exit`: the last words are still in the pipe when the process is gone.
  const closed = new Promise<void>((resolve) => child.child.once("close", () => resolve()));
  const ended = Promise.all([child.ended, closed]).then(([status]) => {
    watch.over();
    return status;
  });
  if (options.stdin !== undefined) child.child.stdin?.end(options.stdin);
  return {
    process: child,
    out: () => out,
    err: () => err,
    ended,
    signal: (signal) => {
      process.kill(child.pid, signal);
    },
    until: (what, found, timeoutMs = DEFAULT_TIMEOUT_MS) => watch.until(what, () => found(out, err), timeoutMs),
    [Symbol.asyncDispose]: async () => {
      await child.end();
      await ended;
    },
  };
};

export const runProgram = async (argv: readonly string[], options: ProgramOptions): Promise<Outcome> => {
  await using program = await startProgram(argv, options);
  const { code } = await program.ended;
  return { code, out: program.out(), err: program.err() };
};
