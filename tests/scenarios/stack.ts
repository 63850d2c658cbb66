// The product as people run it: `toolplane up` in a process group of its own, services in further processes, the command
// line as the caller. Nothing here reaches into the server.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const TOOLPLANE = file("../../packages/server/bin/toolplane.mjs");

export interface Said {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Service {
  readonly child: ChildProcess;
  /** Resolves when the service has written a line that begins so. */
  said(prefix: string): Promise<string>;
  kill(): Promise<void>;
}

export interface Stack extends AsyncDisposable {
  readonly data: string;
  url(): string;
  token(): string;
  /** Runs the command line to its end. */
  cli(...argv: readonly string[]): Promise<Said>;
  api(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: unknown }>;
  service(name: string, env?: Readonly<Record<string, string>>): Promise<Service>;
  /** SIGKILL to the server and everything it started. */
  killAll(): Promise<void>;
  start(): Promise<number>;
}

const watchLines = (child: ChildProcess): ((prefix: string) => Promise<string>) => {
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  let ended = false;
  if (child.stdout !== null)
    createInterface({ input: child.stdout })
      .on("line", (line) => {
        lines.push(line);
        for (const wake of waiting) wake();
      })
      .on("close", () => {
        ended = true;
        for (const wake of waiting) wake();
      });
  return async (prefix) => {
    for (;;) {
      const found = lines.find((line) => line.startsWith(prefix));
      if (found !== undefined) return found;
      if (ended) throw new RangeError(`it ended before it said "${prefix}"`);
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          waiting.delete(wake);
          resolve();
        };
        waiting.add(wake);
      });
    }
  };
};

const killGroup = async (child: ChildProcess, signal: NodeJS.Signals): Promise<void> => {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  process.kill(-child.pid, signal);
  await gone;
};

export const openStack = async (): Promise<Stack> => {
  const data = mkdtempSync(join(tmpdir(), "toolplane-scenario-"));
  let server: ChildProcess | undefined;
  let address = "";
  const services: ChildProcess[] = [];

  const environment = (more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv => ({
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    NO_COLOR: "1",
    TOOLPLANE_URL: address,
    TOOLPLANE_TOKEN: readFileSync(join(data, "token"), "utf8").trim(),
    TOOLPLANE_PROJECT: "demo",
    ...more,
  });

  const start = async (): Promise<number> => {
    const began = performance.now();
    const child = spawn(process.execPath, [TOOLPLANE, "up", "--demo", "--data", data, "--port", "0"], {
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    server = child;
    address = (await watchLines(child)("ready ")).slice("ready ".length);
    return performance.now() - began;
  };

  await start();
  return {
    data,
    url: () => address,
    token: () => readFileSync(join(data, "token"), "utf8").trim(),
    start,
    async cli(...argv) {
      const child = spawn(process.execPath, [TOOLPLANE, ...argv], {
        env: environment(),
        stdio: ["ignore", "pipe", "pipe"],
      });
      const out: Buffer[] = [];
      const err: Buffer[] = [];
      child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
      child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
      const [code] = (await once(child, "close")) as [number | null];
      return { code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() };
    },
    async api(method, path, body) {
      const response = await fetch(address + path, {
        method,
        headers: { authorization: `Bearer ${environment().TOOLPLANE_TOKEN}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await response.json() };
    },
    async service(name, env = {}) {
      const child = spawn(process.execPath, ["--conditions=source", file(`./services/${name}.ts`)], {
        detached: true,
        env: environment(env),
        stdio: ["ignore", "pipe", "inherit"],
      });
      services.push(child);
      const said = watchLines(child);
      await said("serving");
      return { child, said, kill: () => killGroup(child, "SIGKILL") };
    },
    async killAll() {
      if (server !== undefined) await killGroup(server, "SIGKILL");
    },
    async [Symbol.asyncDispose]() {
      for (const child of services) await killGroup(child, "SIGKILL");
      if (server !== undefined) await killGroup(server, "SIGTERM");
      rmSync(data, { recursive: true, force: true });
    },
  };
};
