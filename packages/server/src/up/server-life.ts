// One life of the embedded server under us: found alive and adopted, or started; in both cases with the owner's lock.
//   SL1. A live server is never killed and never doubled. If it has no owner (its owner was killed together with the guard), it
//       is adopted; if it has one, the start fails with `already running`.
//   SL2. A server whose owner just died may be shutting down, or still hold the owner's lock: it gets time to end or to answer.
//   SL3. An adopted server is registered with the guard like one of our own, and stopped when we stop.
//   SL4. A server of an earlier version, which does not know the plane's login or lets logins in without a password, is upgraded
//       before it is used. The changes are made under the owner's lock, so a living owner of an earlier version is not cut off;
//       every step can be repeated after a crash in between.

import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "@toolplane/engine";
import {
  findLivePostgres,
  type Guard,
  isOfEarlierVersion,
  isRefused,
  type LivePostgres,
  type ProcessRow,
  probePostgres,
  RUNTIME,
  type RunningPostgres,
  type SocketLogin,
  socketUrl,
  startPostgres,
  tryReadProcess,
} from "@toolplane/processes";
import { isToolplaneError, ToolplaneError } from "@toolplane/protocol";
import { setUpLogins } from "./logins.ts";
import { findOwner, IN_PROCESS, type LockAttempt, type Owner, type OwnerLock, tryLock } from "./owner-lock.ts";

export interface LiveServer {
  readonly adopted: boolean;
  readonly pid: number;
  /** Of a server we started. */
  readonly version: string | undefined;
  readonly socketDir: string;
  login(user: string): SocketLogin;
  /** Whether its process exists. */
  alive(): boolean;
  /** Stops it if it runs, and removes what it leaves. */
  stop(): Promise<void>;
}

export interface ServerLife {
  readonly server: LiveServer;
  readonly lock: OwnerLock;
}

export interface LifeOptions {
  readonly dataDir: string;
  readonly guard: Guard;
  readonly throwAway: boolean;
  readonly self: Owner;
  readonly log: Log;
}

export const DATABASE = "postgres";

// Longer than the guard of a dead owner takes to end its server.
const PATIENCE_MS = 10_000;
const POLL_MS = 25;
// As for a server of our own: immediate shutdown takes milliseconds, a checkpoint on a slow disk tens of seconds.
const QUIT_GRACE_MS = 5_000;
const STOP_GRACE_MS = 60_000;
// For our pool, the doorbell, the lock, and people who look; each slot costs memory whether it is used or not.
const MAX_CONNECTIONS = 50;
// These processes would have nothing to do: nothing is replicated, and most reads are served from memory.
const FEWER_PROCESSES = { io_method: "sync", max_logical_replication_workers: "0" };
// After a crash PostgreSQL syncs everything before recovery: with this setting one call for the file system instead of one for
// each of a thousand files. Measured here on a busy disk: 0.5 s against 3.2 s from start to ready.
const QUICK_RECOVERY = process.platform === "linux" ? { recovery_init_sync_method: "syncfs" } : {};

export const alreadyRunning = (dataDir: string, { pid, address }: Owner): ToolplaneError => {
  const who = pid === 0 ? "another process" : `process ${pid}`;
  const url = address === undefined || address === IN_PROCESS ? undefined : `http://${address}`;
  const where = address === undefined ? "is starting on" : url === undefined ? "has opened" : `serves ${url} from`;
  return new ToolplaneError("conflict", `already running: ${who} ${where} ${dataDir}`, {
    detail: {
      pid,
      ...(url === undefined ? {} : { url }),
      todo: "stop it first, or start with another --data",
    },
  });
};

/** The process that runs on this data directory, if there is one that says so. */
export const findOwnerOf = async (dataDir: string): Promise<Owner | undefined> => {
  const live = findLivePostgres(dataDir, { makeKey: false });
  return live && findOwner(socketUrl(live.login(RUNTIME), DATABASE));
};

const lockAs = (login: SocketLogin, self: Owner): Promise<LockAttempt> => tryLock(socketUrl(login, DATABASE), self);

/** SL4; returns the lock as the plane's login. */
const bringOver = async (server: LivePostgres, self: Owner): Promise<LockAttempt> => {
  // The key may be new. An open server lets us in without a password, and may have an owner that must not be cut off.
  if (!(await server.isOpen())) await server.secure();
  const attempt = await lockAs(server.login(), self);
  if (attempt.state === "owned") return attempt;
  try {
    await server.secure();
    await server.evict([attempt.lock.backend]);
    await setUpLogins(server, DATABASE);
  } finally {
    await attempt.lock.release();
  }
  return lockAs(server.login(RUNTIME), self);
};

const lockOrBringOver = (server: LivePostgres, self: Owner): Promise<LockAttempt> =>
  lockAs(server.login(RUNTIME), self).catch((error: unknown) => {
    if (!isRefused(error)) throw error;
    return bringOver(server, self);
  });

const isThere = (known: ProcessRow): boolean => {
  const row = tryReadProcess(known.pid);
  return row !== undefined && !row.zombie && row.started === known.started;
};

const stopAdopted = async (server: ProcessRow): Promise<void> => {
  const deadline = performance.now() + STOP_GRACE_MS;
  if (isThere(server)) process.kill(server.pid, "SIGINT");
  while (isThere(server) && performance.now() < deadline) await delay(POLL_MS);
};

/** The connections of a killed process, and its lock, survive it for a moment. An owner on another machine is not in our table. */
const isOnItsWayOut = ({ pid }: Owner): boolean => pid !== 0 && tryReadProcess(pid)?.zombie !== false;

/** Undefined when there is no live server, or when it does not answer. */
const tryAdopt = async (
  { dataDir, guard, self }: LifeOptions,
  patient: () => boolean,
): Promise<ServerLife | undefined> => {
  const live = findLivePostgres(dataDir, { makeKey: true });
  if (live === undefined) return undefined;
  const { pid, socketDir, login } = live;
  const server = tryReadProcess(pid);
  // Always, because a process may have died in the middle of upgrading the server.
  const attempt = await bringOver(live, self).catch((error: unknown) => {
    if (isToolplaneError(error)) throw error;
    return undefined;
  });
  if (attempt === undefined || server === undefined) return undefined;
  if (attempt.state === "owned") {
    if (isOnItsWayOut(attempt.owner) && patient()) return undefined;
    throw alreadyRunning(dataDir, attempt.owner);
  }
  const watch = await guard.watch({ label: "adopted postgres", pid, signal: "SIGQUIT", graceMs: QUIT_GRACE_MS });
  const stop = async (): Promise<void> => {
    await stopAdopted(server);
    await watch.forget();
  };
  return {
    server: { adopted: true, pid, version: undefined, socketDir, login, alive: () => isThere(server), stop },
    lock: attempt.lock,
  };
};

const ownStarted = async (server: RunningPostgres, options: LifeOptions): Promise<ServerLife> => {
  const { pid, version, socketDir, login } = server;
  // The process table shows its death before its parent is told.
  const row = tryReadProcess(pid);
  const attempt = await lockOrBringOver(server, options.self);
  // Two owners started at the same moment, and this server belongs to the other one.
  if (attempt.state === "owned") throw alreadyRunning(options.dataDir, attempt.owner);
  return {
    server: {
      adopted: false,
      pid,
      version,
      socketDir,
      login,
      alive: () => row !== undefined && isThere(row),
      stop: () => server.stop(),
    },
    lock: attempt.lock,
  };
};

const startOwn = ({ dataDir, guard, throwAway }: LifeOptions): Promise<RunningPostgres> =>
  startPostgres({
    dataDir,
    guard,
    unsafeNoSync: throwAway,
    maxConnections: MAX_CONNECTIONS,
    settings: { ...FEWER_PROCESSES, ...QUICK_RECOVERY },
  });

const findOrStart = async (options: LifeOptions): Promise<ServerLife> => {
  const deadline = performance.now() + PATIENCE_MS;
  const patient = (): boolean => performance.now() < deadline;
  const isLive = (): boolean => probePostgres(options.dataDir).state === "live" && patient();
  for (;;) {
    const adopted = await tryAdopt(options, patient);
    if (adopted !== undefined) return adopted;
    if (isLive()) {
      await delay(POLL_MS);
      continue;
    }
    let server: RunningPostgres;
    try {
      server = await startOwn(options);
    } catch (error) {
      // Another process started on the same data at the same moment and was first: the next look says which.
      if (isLive()) continue;
      throw error;
    }
    try {
      return await ownStarted(server, options);
    } catch (error) {
      await server.stop();
      throw error;
    }
  }
};

const BROUGHT_OVER =
  "this data directory was made by an earlier version and is brought over: passwords are set, earlier versions cannot use it any more";

/** The first start of this version on a data directory of an earlier one logs what was changed. */
export const beginLife = async (options: LifeOptions): Promise<ServerLife> => {
  const isEarlier = isOfEarlierVersion(options.dataDir);
  const life = await findOrStart(options);
  if (isEarlier) options.log.info(BROUGHT_OVER, { data: options.dataDir });
  return life;
};
