// A process of a contestant: started under the guard, asked over lines of JSON, ended in the polite way.

import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type GuardedProcess, spawnGuarded } from "@toolplane/processes";
import { ToolplaneError } from "@toolplane/protocol";
import { programEnv } from "@toolplane/testkit";
import { MARK, type ProgramConfig } from "./programs/conversation.ts";

/** The checkout this file is in. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const LOG_LIMIT = 4_000;
const LOG_SHOWN = 600;
// A server writes a checkpoint and drains before it goes.
const GRACE_MS = 30_000;

/** Disposing it ends it whatever it is doing. */
export interface Program extends AsyncDisposable {
  readonly pid: number;
  /** Sends an order and waits for its answer. */
  ask<Answer>(order: object): Promise<Answer>;
  /** Asks it to end and waits until it is gone. Resolves to its last words. */
  end(): Promise<unknown>;
}

export interface Launch {
  readonly label: string;
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  /** How the lines of stdout begin that are meant for the harness; all others are its log. */
  readonly mark?: string | undefined;
}

export interface Launched {
  readonly process: GuardedProcess;
  /** The next marked line, without its mark; throws with the program's last words when it ends before. */
  nextLine(): Promise<string>;
}

/** Reads all the time, whether or not a line is waited for: a full pipe would stop the program. */
const readLines = ({
  process: { child },
  label,
  mark,
}: Pick<Launched, "process"> & Launch): (() => Promise<string>) => {
  const ready: string[] = [];
  const waiting: { resolve(line: string): void; reject(error: Error): void }[] = [];
  let log = "";
  let over = false;
  const keep = (text: string): void => {
    log = (log + text).slice(-LOG_LIMIT);
  };
  const ended = (): Error =>
    new ToolplaneError("upstream_unavailable", `${label} ended: ${log.trim().slice(-LOG_SHOWN) || "it said nothing"}`);
  child.stderr?.setEncoding("utf8").on("data", keep);
  const lines = createInterface({ input: child.stdout ?? process.stdin });
  lines.on("line", (line) => {
    if (mark === undefined || !line.startsWith(mark)) return keep(`${line}\n`);
    const meant = line.slice(mark.length);
    const first = waiting.shift();
    if (first === undefined) ready.push(meant);
    else first.resolve(meant);
  });
  lines.once("close", () => {
    over = true;
    for (const { reject } of waiting) reject(ended());
  });
  return () => {
    const line = ready.shift();
    if (line !== undefined) return Promise.resolve(line);
    if (over) return Promise.reject(ended());
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  };
};

export const launch = async (options: Launch): Promise<Launched> => {
  const { label, argv, env = {}, cwd = ROOT } = options;
  const started = await spawnGuarded(argv, {
    label,
    cwd,
    // A commit that was just checked out has no compiled code of an earlier run; this tree has. So neither uses it.
    env: { ...programEnv(), NODE_DISABLE_COMPILE_CACHE: "1", NODE_NO_WARNINGS: "1", NODE_ENV: "production", ...env },
    stdio: ["pipe", "pipe", "pipe"],
    graceMs: GRACE_MS,
  });
  started.child.stdin?.on("error", () => undefined);
  return { process: started, nextLine: readLines({ ...options, process: started }) };
};

export interface ProgramOptions {
  readonly label: string;
  readonly main: "caller" | "worker";
  readonly config: ProgramConfig;
  /** The checkout whose programs and packages are run. */
  readonly root?: string | undefined;
}

/** Starts one of the two mains with a contestant's module; returns when the module is open. */
export const startProgram = async ({ label, main, config, root = ROOT }: ProgramOptions): Promise<Program> => {
  const { process: child, nextLine } = await launch({
    label,
    argv: [process.execPath, "--conditions=source", join(root, `bench/doors/programs/${main}.ts`)],
    env: { BENCH_CONFIG: JSON.stringify(config) },
    cwd: root,
    mark: MARK,
  });
  const ask = async <Answer>(order: object): Promise<Answer> => {
    child.child.stdin?.write(`${JSON.stringify(order)}\n`);
    const answer = JSON.parse(await nextLine()) as Answer & { readonly failed?: string };
    if (answer.failed !== undefined) throw new ToolplaneError("upstream_unavailable", `${label}: ${answer.failed}`);
    return answer;
  };
  try {
    await nextLine();
  } catch (cause) {
    await child.end();
    throw cause;
  }
  return {
    pid: child.pid,
    ask,
    async end() {
      const said = await ask({ end: true });
      await child.ended;
      return said;
    },
    async [Symbol.asyncDispose]() {
      await child.end({ signal: "SIGKILL" });
    },
  };
};
