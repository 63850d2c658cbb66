// The product as people run it: `toolplane up` in a process group of its own, services in further processes, the command
// line as the caller. Nothing here reaches into the server, and nothing outlives the test run.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type GuardedProcess, spawnGuarded } from "@toolplane/processes";
import { askApi, programArgv, programEnv, startNats } from "@toolplane/testkit";
import { TOOLPLANE } from "../toolplane-argv.ts";
import { makeUsedPlace } from "../up/data.ts";

/** Who was killed is given up after this; the default is for networks, not for tests. */
const LEASE_SECONDS = "6";
const STOP_GRACE_MS = 20_000;

export interface Said {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What carries messages beside the database, if anything does. */
export type BusName = "postgres" | "nats";

export interface Service {
  /** Resolves when the service has written a line that begins so. */
  said(prefix: string): Promise<string>;
  /** SIGTERM: it finishes what it has. */
  stop(): Promise<void>;
  kill(): Promise<void>;
}

export interface Stack extends AsyncDisposable {
  readonly data: string;
  url(): string;
  /** The address of NATS, when it carries the messages. */
  readonly natsUrl: string | undefined;
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

/** SIGKILL to the whole group, at once. */
const endNow = async (guarded: GuardedProcess): Promise<void> => {
  guarded.kill("SIGKILL");
  await guarded.ended;
};

export const openStack = async ({ bus = "postgres" }: { readonly bus?: BusName } = {}): Promise<Stack> => {
  const nats = bus === "nats" ? await startNats() : undefined;
  const place = await makeUsedPlace();
  const data = place.dataDir;
  let server: GuardedProcess | undefined;
  let address = "";
  const services: GuardedProcess[] = [];

  const token = (): string => readFileSync(join(data, "token"), "utf8").trim();
  const base = { ...programEnv(), HOME: process.env.HOME ?? "" };
  const environment = (more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
    ...base,
    NO_COLOR: "1",
    TOOLPLANE_URL: address,
    TOOLPLANE_TOKEN: token(),
    TOOLPLANE_PROJECT: "demo",
    ...more,
  });

  const start = async (): Promise<number> => {
    const began = performance.now();
    const where = nats === undefined ? [] : ["--nats-url", nats.url];
    const argv = [...TOOLPLANE, "up", "--demo", "--data", data, "--port", "0", ...where];
    server = await spawnGuarded(argv, {
      label: "toolplane up",
      env: { ...base, TOOLPLANE_LEASE_SECONDS: LEASE_SECONDS },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const { child } = server;
    address = (await watchLines(child)("ready ")).slice("ready ".length);
    return performance.now() - began;
  };

  await start();
  return {
    data,
    url: () => address,
    natsUrl: nats?.url,
    token,
    start,
    async cli(...argv) {
      const child = spawn(TOOLPLANE[0], [TOOLPLANE[1], ...argv], {
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
    api: (method, path, body) => askApi({ url: address, token: token() }, { method, path, body }),
    async service(name, env = {}) {
      const service = await spawnGuarded(programArgv(new URL(`./services/${name}.ts`, import.meta.url)), {
        label: name,
        env: environment(env),
        stdio: ["ignore", "pipe", "inherit"],
      });
      services.push(service);
      const said = watchLines(service.child);
      await said("serving");
      const stop = async (): Promise<void> => void (await service.end({ signal: "SIGTERM", graceMs: STOP_GRACE_MS }));
      return { said, stop, kill: () => endNow(service) };
    },
    async killAll() {
      if (server !== undefined) await endNow(server);
    },
    async [Symbol.asyncDispose]() {
      for (const service of services) await endNow(service);
      await server?.end({ signal: "SIGTERM", graceMs: STOP_GRACE_MS });
      await nats?.stop();
      await place[Symbol.asyncDispose]();
    },
  };
};
