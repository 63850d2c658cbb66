// `toolplane up` as a person runs it: a process of its own in a group of its own, what it says, and a client for it.

import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "@toolplane/protocol";
import { type Answer, askApi, findDescendants, guardProgram, programEnv, until, untilGone } from "@toolplane/testkit";
import { TOOLPLANE } from "../toolplane-argv.ts";

/** Far more than it takes; a busy machine is not a failure. */
export const PATIENCE_MS = 50_000;

export interface UpProcess extends AsyncDisposable {
  readonly pid: number;
  readonly dataDir: string;
  readonly exited: Promise<number | null>;
  stdout(): string;
  stderr(): string;
  /** Resolves to the address it serves; fails with its own words when it ends before. */
  ready(): Promise<string>;
  /** Waits until its log has this text. */
  said(text: string): Promise<void>;
  request(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** A signal to the process alone. */
  signal(name: NodeJS.Signals): void;
  /** SIGKILL for its whole process group. */
  killGroup(): Promise<void>;
  /** SIGTERM, and the exit code. */
  stop(): Promise<number | null>;
  /** The processes it has started: guard, database server and its backends. */
  family(): ReturnType<typeof findDescendants>;
}

export interface UpProcessOptions {
  readonly dataDir: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

const tokenOf = (dataDir: string): string => readFileSync(join(dataDir, "token"), "utf8").trim();

/** The operator's own way in. */
export const databaseUrl = (dataDir: string): string => readFileSync(join(dataDir, "database-url"), "utf8").trim();

export const startUp = ({ dataDir, args = [], env = {}, cwd = "/" }: UpProcessOptions): UpProcess => {
  const argv = [TOOLPLANE[1], "up", "--port", "0", "--data", dataDir, ...args];
  const child: ChildProcess = spawn(TOOLPLANE[0], argv, {
    cwd,
    env: { ...programEnv(), HOME: process.env.HOME ?? "/", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  // Not awaited: what a person runs has no guard around it either, and a failed guard fails every other test.
  guardProgram(child, "toolplane up").catch(() => undefined);
  let stdout = "";
  let stderr = "";
  let over = false;
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const exited = new Promise<number | null>((resolve) =>
    child.once("close", (code) => {
      over = true;
      resolve(code);
    }),
  );
  const pid = child.pid ?? 0;

  const waitFor = async (what: string, holds: () => boolean): Promise<void> => {
    await until(what, () => over || holds(), PATIENCE_MS);
    if (!holds()) throw new UsageError(`it ended before ${what}:\n${stderr}`);
  };
  const ready = async (): Promise<string> => {
    await waitFor("ready", () => stdout.includes("ready http"));
    return (stdout.split("ready ")[1] ?? "").trim();
  };
  const killGroup = async (): Promise<void> => {
    if (over) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // Gone in the meantime.
    }
    await exited;
  };

  return {
    pid,
    dataDir,
    exited,
    stdout: () => stdout,
    stderr: () => stderr,
    ready,
    said: (text) => waitFor(text, () => stderr.includes(text)),
    request: async (method, path, body, headers) =>
      askApi({ url: await ready(), token: tokenOf(dataDir) }, { method, path, body, headers }),
    signal: (name) => void child.kill(name),
    killGroup,
    async stop() {
      child.kill("SIGTERM");
      return exited;
    },
    family: () => findDescendants(pid),
    async [Symbol.asyncDispose]() {
      if (over) return;
      const family = findDescendants(pid);
      await killGroup();
      // Its guard ends the rest.
      await untilGone(family, PATIENCE_MS);
    },
  };
};

/** The embedded server's process, from the log. */
export const databasePid = (up: UpProcess): number => {
  const entries = up
    .stderr()
    .split("\n")
    .filter((line) => line.includes('"pid"') && line.includes("database"))
    .map((line) => JSON.parse(line) as { readonly pid: number; readonly msg: string })
    .filter(({ msg }) => msg !== "the database is away");
  return entries.at(-1)?.pid ?? 0;
};
