// Starts PostgreSQL as a stock server on a data directory: cluster made on first start, unix socket in a 0700
// directory, optionally a loopback port with a fresh password.
// P1. Ready means a connection was made, not that a log line was seen.
// P2. A killed server starts again without a manual step: a stale postmaster.pid is recognised and removed.
// P3. A live server is never killed or doubled: it is waited for briefly (it may be going down), then refused.

import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, closeSync, existsSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ToolplaneError } from "@toolplane/protocol";
import { Client } from "pg";
import { type ExitStatus, type GuardedProcess, spawnGuarded } from "../guarded/spawn-guarded.ts";
import { cacheDirectory } from "./cache-directory.ts";
import { ensureCluster, POSTGRES_USER } from "./cluster.ts";
import { type Location, preparePlace, readLocation } from "./place.ts";
import { findNpmPostgres, type PostgresBinaries } from "./postgres-binaries.ts";
import { planSettings, settingsToFlags } from "./postgres-settings.ts";
import { type PostgresProbe, probeCluster } from "./postmaster-file.ts";
import { pickRunAs, type RunAs } from "./run-as.ts";

export interface PostgresOptions {
  /** Holds everything of this server; made when missing. */
  readonly dataDir: string;
  /** The programs npm brought unless given. */
  readonly binaries?: PostgresBinaries;
  /** Unless given: ourselves, or as root an unprivileged user. */
  readonly runAs?: RunAs;
  /** Also listen on a free port of 127.0.0.1, with a password made at every start. */
  readonly loopback?: boolean;
  readonly maxConnections?: number;
  /** No syncing to disk and a cluster copied from a cache: for servers whose data may vanish. */
  readonly unsafeNoSync?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
  readonly readyTimeoutMs?: number;
  /** How long a server that is still on the cluster is given to go away. */
  readonly previousTimeoutMs?: number;
}

export interface RunningPostgres extends AsyncDisposable {
  readonly pid: number;
  readonly version: string;
  readonly user: string;
  readonly socketDir: string;
  readonly port: number;
  readonly location: Location | undefined;
  readonly exited: Promise<ExitStatus>;
  /** A connection URL over the unix socket. */
  url(database?: string): string;
  /** A connection URL over 127.0.0.1; only with `loopback`. */
  loopbackUrl(database?: string): string;
  /** Fast shutdown: sessions end, data is checkpointed. */
  stop(): Promise<void>;
  /** What a crash looks like. */
  kill(): Promise<void>;
}

// The longest socket path the kernels take, less the terminating zero (104 on macOS, 108 on Linux).
const SOCKET_PATH_LIMIT = 103;
const READY_POLL_MS = 10;
const STOP_TIMEOUT_MS = 30_000;

export const socketUrl = (socketDir: string, port: number, database: string): string =>
  `postgresql://${POSTGRES_USER}@/${encodeURIComponent(database)}?host=${encodeURIComponent(socketDir)}&port=${port}`;

/** Is a server alive on this data directory? The seam for whoever adopts one. */
export const probePostgres = (dataDir: string): PostgresProbe =>
  probeCluster(join(readLocation(dataDir)?.data ?? dataDir, "postgres", "cluster"));

const makeSocketDir = (home: string, runAs: RunAs | undefined): string => {
  const path = join(home, "socket");
  if (Buffer.byteLength(join(path, ".s.PGSQL.65535.lock")) > SOCKET_PATH_LIMIT) {
    throw new ToolplaneError("storage_error", `the path ${path} is too long for a unix socket`);
  }
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (runAs !== undefined) chownSync(path, runAs.uid, runAs.gid);
  chmodSync(path, 0o700);
  return path;
};

const clearStale = async (cluster: string, socketDir: string, port: number, patienceMs: number): Promise<void> => {
  const deadline = performance.now() + patienceMs;
  let probe = probeCluster(cluster);
  while (probe.state === "live" && performance.now() < deadline) {
    await delay(READY_POLL_MS);
    probe = probeCluster(cluster);
  }
  if (probe.state === "live") {
    throw new ToolplaneError(
      "conflict",
      `a database server is already running on ${cluster} (process ${probe.file?.pid})`,
    );
  }
  await rm(join(cluster, "postmaster.pid"), { force: true });
  await rm(join(socketDir, `.s.PGSQL.${port}.lock`), { force: true });
};

const canConnect = async (url: string): Promise<boolean> => {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 1000 });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
};

const tail = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8").trim().slice(-2000) : "");

const untilReady = async (server: GuardedProcess, url: string, log: string, timeoutMs: number): Promise<void> => {
  const deadline = performance.now() + timeoutMs;
  let gone = false;
  void server.exited.then(() => {
    gone = true;
  });
  while (!(await canConnect(url))) {
    if (gone) throw new ToolplaneError("storage_error", `the database server did not start: ${tail(log)}`);
    if (performance.now() > deadline) {
      server.kill("SIGKILL");
      throw new ToolplaneError("storage_error", `the database server was not ready in ${timeoutMs} ms: ${tail(log)}`);
    }
    await delay(READY_POLL_MS);
  }
};

/** Starts the server and returns when it answers. */
export const startPostgres = async (options: PostgresOptions): Promise<RunningPostgres> => {
  const runAs = options.runAs ?? pickRunAs();
  const unsafeNoSync = options.unsafeNoSync ?? false;
  const found = options.binaries ?? findNpmPostgres(() => join(cacheDirectory(runAs), "programs"));
  const place = preparePlace({
    dataDir: options.dataDir,
    runAs,
    binaries: found,
    throwAway: unsafeNoSync,
    movedRoot: "/var/lib/toolplane",
  });
  const cluster = join(place.home, "cluster");
  const socketDir = makeSocketDir(place.home, runAs);
  const port = 5432;
  await clearStale(cluster, socketDir, port, options.previousTimeoutMs ?? 3000);
  await ensureCluster({
    cluster,
    binaries: place.binaries,
    runAs,
    cache: unsafeNoSync ? clusterCache(runAs) : undefined,
  });
  const settings = planSettings(
    { maxConnections: options.maxConnections ?? 100, unsafeNoSync, extra: options.settings ?? {} },
    { socketDir, port, loopback: options.loopback ?? false },
  );
  const log = join(place.home, "server.log");
  const logFd = openSync(log, "a", 0o600);
  let server: GuardedProcess;
  try {
    server = await spawnGuarded([place.binaries.postgres, "-D", cluster, ...settingsToFlags(settings)], {
      label: "postgres",
      env: { PATH: process.env.PATH ?? "/usr/bin:/bin", LC_ALL: "C" },
      stdio: ["ignore", logFd, logFd],
      ...(runAs ?? {}),
    });
  } finally {
    closeSync(logFd);
  }
  const url = (database = "postgres"): string => socketUrl(socketDir, port, database);
  await untilReady(server, url(), log, options.readyTimeoutMs ?? 60_000);
  const stop = async (): Promise<void> => {
    server.kill("SIGINT");
    const timer = setTimeout(() => server.kill("SIGQUIT"), STOP_TIMEOUT_MS);
    await server.exited;
    clearTimeout(timer);
  };
  return {
    pid: server.pid,
    version: place.binaries.version,
    user: POSTGRES_USER,
    socketDir,
    port,
    location: place.location,
    exited: server.exited,
    url,
    loopbackUrl: url,
    stop,
    kill: async () => {
      server.kill("SIGKILL");
      await server.exited;
    },
    [Symbol.asyncDispose]: stop,
  };
};

const clusterCache = (runAs: RunAs | undefined): string => {
  const path = join(cacheDirectory(runAs), `clusters-${runAs?.uid ?? "own"}`);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (runAs !== undefined) chownSync(path, runAs.uid, runAs.gid);
  return path;
};

export const temporaryName = (): string => `toolplane-${randomBytes(6).toString("hex")}`;
