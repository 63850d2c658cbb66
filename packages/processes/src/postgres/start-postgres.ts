// Starts PostgreSQL as a stock server on a data directory: cluster made on first start, unix socket in a 0700
// directory, optionally a loopback port. Every login has a password, derived from the key in the data directory.
// SP1. Ready means that the server answered a connection, not that a log line was seen.
// SP2. A killed server starts again without a manual step.
// SP3. A live server is never killed or doubled: the start waits for it briefly (it may be shutting down) and then fails.
// SP4. The server cannot outlive us: the guard shuts it down at once (no checkpoint; recovery at the next start).
// SP5. A server that an earlier version made without passwords is closed before it is reported as running.

import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { ToolplaneError, UsageError } from "@toolplane/protocol";
import { type Guard, processGuard } from "../guard/guard.ts";
import { type ExitStatus, type GuardedProcess, spawnGuarded } from "../guarded/spawn-guarded.ts";
import { cacheDirectory } from "./cache-directory.ts";
import { ensureCluster } from "./cluster.ts";
import { clusterPath, nameCluster } from "./cluster-name.ts";
import { type LivePostgres, reachServer } from "./live-server.ts";
import { SUPERUSER } from "./logins.ts";
import { removeOldCopies } from "./old-copies.ts";
import { makePassage } from "./ownership.ts";
import { type Location, type Place, preparePlace } from "./place.ts";
import { findNpmPostgres, type PostgresBinaries } from "./postgres-binaries.ts";
import { planSettings, settingsToFlags } from "./postgres-settings.ts";
import { makeRoom, untilNotLive } from "./previous-server.ts";
import { pickRunAs, type RunAs } from "./run-as.ts";
import { evictFromServer, readDoor, type ServerDoor, secureServer, setSuperuserPassword } from "./server-access.ts";
import { findFreePort, loopbackUrl, untilReady } from "./server-connection.ts";
import { ensureKey, type ServerKey } from "./server-key.ts";
import { openServerLog } from "./server-log.ts";
import { makeSocketDirectory } from "./socket-directory.ts";

export interface PostgresOptions {
  /** Holds everything of this server; made when missing. */
  readonly dataDir: string;
  /** The programs npm brought unless given. */
  readonly binaries?: PostgresBinaries;
  /** Unless given: our own user, or as root a user of its own. */
  readonly runAs?: RunAs;
  /** Also listen on a free port of 127.0.0.1. */
  readonly loopback?: boolean;
  readonly maxConnections?: number;
  /** No syncing to disk and a cluster copied from a cache: for servers whose data may vanish. */
  readonly unsafeNoSync?: boolean;
  /** Further server settings; they win over ours. */
  readonly settings?: Readonly<Record<string, string>>;
  /** How long the start waits for another server on the cluster to go away. */
  readonly previousTimeoutMs?: number;
  /** Where things go that the server's user cannot reach; /var/lib/toolplane unless given. */
  readonly movedRoot?: string;
  readonly guard?: Guard;
}

export interface RunningPostgres extends LivePostgres, AsyncDisposable {
  readonly version: string;
  /** What had to move, and where to. */
  readonly location: Location | undefined;
  readonly exited: Promise<ExitStatus>;
  /** The superuser's connection URL over 127.0.0.1; only with `loopback`. */
  loopbackUrl(database?: string): string;
  /** Fast shutdown: sessions end, data is checkpointed. */
  stop(): Promise<void>;
  /** SIGKILL, as a crash would; resolves when its last process is gone. */
  kill(): Promise<void>;
}

// Without a loopback port the number only names the socket file.
const SOCKET_ONLY_PORT = 5432;
const DEFAULT_MAX_CONNECTIONS = 100;
// Crash recovery of a large log takes long; a server that needs more time than this is stuck.
const READY_TIMEOUT_MS = 60_000;
// Longer than the guard's grace, so that a parent that starts right after the last one's death finds the cluster free.
const PREVIOUS_TIMEOUT_MS = 8000;
// Immediate shutdown is a matter of milliseconds; a backend in the kernel may take longer.
const QUIT_GRACE_MS = 5000;
// A fast shutdown writes a checkpoint; on a slow disk with a full cache that is tens of seconds.
const STOP_GRACE_MS = 60_000;
const PORT_ATTEMPTS = 5;

const clusterCache = (runAs: RunAs | undefined): string => {
  const path = join(cacheDirectory(runAs), `clusters-${runAs?.uid ?? "own"}`);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  makePassage(path, runAs);
  return path;
};

const isPortTaken = (cause: unknown): boolean =>
  cause instanceof ToolplaneError && cause.message.includes("could not bind");

interface Launch {
  readonly options: PostgresOptions;
  readonly place: Place;
  readonly runAs: RunAs | undefined;
  readonly guard: Guard;
  readonly socketDir: string;
  readonly key: ServerKey;
}

interface Launched {
  readonly server: GuardedProcess;
  readonly door: ServerDoor;
}

/** Started with the key's password as the only way in. */
const settleDoor = async (door: ServerDoor, clusterKey: ServerKey): Promise<void> => {
  if ((await readDoor(door)) === "open") {
    await secureServer(door);
    await evictFromServer(door);
  } else if (clusterKey.id !== door.key.id) await setSuperuserPassword(door, clusterKey);
};

/** One attempt: make room, make the cluster, start, wait. */
const launch = async ({ options, place, runAs, guard, socketDir, key }: Launch): Promise<Launched> => {
  const cluster = join(place.home, "cluster");
  const clusterName = nameCluster(cluster);
  const { loopback = false, unsafeNoSync = false } = options;
  const port = loopback ? await findFreePort() : SOCKET_ONLY_PORT;
  const patienceMs = options.previousTimeoutMs ?? PREVIOUS_TIMEOUT_MS;
  await makeRoom({ cluster, clusterName, socketDir, port, patienceMs });
  const cache = unsafeNoSync ? clusterCache(runAs) : undefined;
  const clusterKey = await ensureCluster({ cluster, binaries: place.binaries, runAs, cache, key, guard });
  const settings = planSettings(
    { maxConnections: options.maxConnections ?? DEFAULT_MAX_CONNECTIONS, unsafeNoSync, extra: options.settings ?? {} },
    { socketDir, port, loopback, clusterName },
  );
  const log = openServerLog(join(place.home, "server.log"));
  try {
    const server = await spawnGuarded([place.binaries.postgres, "-D", cluster, ...settingsToFlags(settings)], {
      label: "postgres",
      env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
      stdio: ["ignore", log.fd, log.fd],
      signal: "SIGQUIT",
      graceMs: QUIT_GRACE_MS,
      guard,
      ...(runAs ?? {}),
    });
    await untilReady(server, { socketDir, port }, log, READY_TIMEOUT_MS);
    const door = { pid: server.pid, cluster, socketDir, port, key };
    await settleDoor(door, clusterKey).catch(async (cause: unknown) => {
      await server.end();
      throw cause;
    });
    return { server, door };
  } finally {
    log.close();
  }
};

/** Another program may take a free port before the server does; then another one is tried. */
const launchOnFreePort = async (launching: Launch): Promise<Launched> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await launch(launching);
    } catch (cause) {
      if (attempt >= PORT_ATTEMPTS || !isPortTaken(cause)) throw cause;
    }
  }
};

/** Starts the server and returns when it answers. */
export const startPostgres = async (options: PostgresOptions): Promise<RunningPostgres> => {
  const runAs = options.runAs ?? pickRunAs();
  const guard = options.guard ?? processGuard();
  const throwAway = options.unsafeNoSync ?? false;
  // The server works in another directory than we do.
  const dataDir = resolve(options.dataDir);
  const spare = (): string => (throwAway ? cacheDirectory(runAs) : dataDir);
  const movedRoot = options.movedRoot ?? "/var/lib/toolplane";
  const previous = clusterPath(dataDir);
  const patienceMs = options.previousTimeoutMs ?? PREVIOUS_TIMEOUT_MS;
  await untilNotLive({ cluster: previous, clusterName: nameCluster(previous), patienceMs });
  const place = preparePlace({
    dataDir,
    runAs,
    binaries: options.binaries ?? findNpmPostgres(spare),
    throwAway,
    movedRoot,
  });
  const key = ensureKey(dataDir);
  const socket = await makeSocketDirectory(place.home, runAs, guard);
  try {
    const launching = { options, place, runAs, guard, socketDir: socket.path, key };
    const { server, door } = await launchOnFreePort(launching);
    const stopping = new AbortController();
    // Only a process that uses that root cleans it up, in the background; what cannot be removed stays.
    const tidied =
      throwAway || place.location === undefined
        ? undefined
        : removeOldCopies(movedRoot, stopping.signal).catch(() => undefined);
    const end = async (signal: NodeJS.Signals, graceMs: number): Promise<void> => {
      stopping.abort();
      await tidied;
      await server.end({ signal, graceMs });
      await socket.remove();
    };
    const stop = (): Promise<void> => end("SIGINT", STOP_GRACE_MS);
    return {
      ...reachServer(door),
      version: place.binaries.version,
      location: place.location,
      exited: server.exited,
      loopbackUrl: (database = "postgres") => {
        if (options.loopback !== true) throw new UsageError("the server was started without `loopback`");
        return loopbackUrl(door.port, key.passwordOf(SUPERUSER), database);
      },
      stop,
      kill: () => end("SIGKILL", QUIT_GRACE_MS),
      [Symbol.asyncDispose]: stop,
    };
  } catch (cause) {
    await socket.remove();
    throw cause;
  }
};
