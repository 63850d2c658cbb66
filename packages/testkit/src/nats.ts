// A real nats-server with JetStream for tests: a free loopback port, a store of its own, and the rough handling a
// server gets in life: kill, restart on the same port and store, loss of the store.

import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { findFreePort, type GuardedProcess, processGuard, spawnGuarded } from "@toolplane/processes";
import { ToolplaneError } from "@toolplane/protocol";
import { ensureProgram } from "./install-program.ts";

export interface NatsOptions {
  /** Further configuration text: users, permissions, a cluster. */
  readonly config?: string;
  readonly jetStream?: boolean;
  readonly readyTimeoutMs?: number;
}

export interface TestNats extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly storeDir: string;
  /** The running server's process number; changes with every restart. */
  readonly pid: number;
  /** SIGKILL; what the server had not written is lost. */
  kill(): Promise<void>;
  /** Ends a running server the polite way and starts it again on the same port and store. */
  restart(): Promise<void>;
  /** Kills the server, loses the store and starts again, empty, on the same port. */
  wipe(): Promise<void>;
  /** Ends the server and removes everything. */
  stop(): Promise<void>;
}

const NATS_SERVER = {
  name: "nats-server",
  debianPackage: "nats-server",
  otherwise: "on macOS: brew install nats-server; elsewhere: https://github.com/nats-io/nats-server/releases",
};
const READY_TIMEOUT_MS = 60_000;
const POLL_MS = 10;
// Another program may take the port between our look and the server's start.
const PORT_ATTEMPTS = 5;
const LOG_LIMIT = 16 * 1024;

/** The first line of a server says what it is; undefined without an answer. */
const tryReadInfo = (port: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    const done = (value: string | undefined): void => {
      socket.destroy();
      resolve(value);
    };
    socket.setEncoding("utf8").setTimeout(1000, () => done(undefined));
    socket.on("data", (chunk: string) => {
      text += chunk;
      if (text.includes("\r\n")) done(text.slice(0, text.indexOf("\r\n")));
    });
    socket.once("error", () => done(undefined));
    socket.once("close", () => done(undefined));
  });

interface Launch {
  readonly program: string;
  readonly directory: string;
  readonly port: number;
  readonly options: NatsOptions;
}

const writeConfig = ({ directory, port, options }: Launch): string => {
  const { jetStream = true, config = "" } = options;
  const lines = [
    `listen: "127.0.0.1:${port}"`,
    `server_name: "test-${port}"`,
    ...(jetStream ? [`jetstream { store_dir: ${JSON.stringify(join(directory, "store"))} }`] : []),
    config,
  ];
  const path = join(directory, "nats.conf");
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
};

/** Resolves when this very server answers; a foreign one on the same port has another process behind it. */
const launch = async (launching: Launch): Promise<GuardedProcess> => {
  const { program, options, port } = launching;
  const server = await spawnGuarded([program, "-c", writeConfig(launching)], {
    label: "nats-server",
    env: { PATH: "/usr/bin:/bin" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  let gone = false;
  server.child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    log = (log + chunk).slice(-LOG_LIMIT);
  });
  void server.exited.then(() => {
    gone = true;
  });
  const deadline = performance.now() + (options.readyTimeoutMs ?? READY_TIMEOUT_MS);
  while (!log.includes("Server is ready") || (await tryReadInfo(port)) === undefined) {
    if (gone || performance.now() > deadline) {
      await server.end();
      throw new ToolplaneError("upstream_unavailable", `nats-server did not start: ${log.trim().slice(-2000)}`);
    }
    await delay(POLL_MS);
  }
  return server;
};

const isPortTaken = (cause: unknown): boolean =>
  cause instanceof ToolplaneError && cause.message.includes("address already in use");

const launchOnFreePort = async (rest: Omit<Launch, "port">): Promise<{ server: GuardedProcess; port: number }> => {
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort();
    try {
      return { server: await launch({ ...rest, port }), port };
    } catch (cause) {
      if (attempt >= PORT_ATTEMPTS || !isPortTaken(cause)) throw cause;
    }
  }
};

/** Starts a server; gone with its store at the end of the `await using` block. */
export const startNats = async (options: NatsOptions = {}): Promise<TestNats> => {
  const program = await ensureProgram(NATS_SERVER);
  const directory = join(tmpdir(), `toolplane-nats-${randomBytes(6).toString("hex")}`);
  const watch = await processGuard().watch({ label: "test nats store", removeDir: directory });
  mkdirSync(directory, { mode: 0o700 });
  const remove = async (): Promise<void> => {
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    await watch.forget();
  };
  const first = await launchOnFreePort({ program, directory, options }).catch(async (cause: unknown) => {
    await remove();
    throw cause;
  });
  const { port } = first;
  let { server } = first;
  const kill = async (): Promise<void> => {
    await server.end({ signal: "SIGKILL" });
  };
  const start = async (): Promise<void> => {
    server = await launch({ program, directory, port, options });
  };
  const stop = async (): Promise<void> => {
    await server.end();
    await remove();
  };
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    storeDir: join(directory, "store"),
    get pid() {
      return server.pid;
    },
    kill,
    restart: async () => {
      await server.end();
      await start();
    },
    wipe: async () => {
      await kill();
      rmSync(join(directory, "store"), { recursive: true, force: true });
      await start();
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
};
