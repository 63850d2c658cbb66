// A live server: how it is found on a data directory, reached and secured.

import { clusterPath, nameCluster } from "./cluster-name.ts";
import { areForeignRules } from "./login-rules.ts";
import { type PostgresProbe, probeCluster } from "./postmaster-file.ts";
import { doorLogin, evictFromServer, readDoor, type ServerDoor, secureServer } from "./server-access.ts";
import { type SocketLogin, socketUrl } from "./server-connection.ts";
import { ensureKey, tryReadKey } from "./server-key.ts";

export interface LivePostgres {
  readonly pid: number;
  readonly socketDir: string;
  readonly port: number;
  /** How to log in over the unix socket; the superuser unless another is named. */
  login(user?: string): SocketLogin;
  /** The superuser's connection URL over the unix socket. */
  url(database?: string): string;
  /** Whether it lets its superuser in without a password, as servers of earlier versions did. */
  isOpen(): Promise<boolean>;
  /** Makes it ask for passwords, and gives the superuser the key's password. */
  secure(): Promise<void>;
  /** All other logins lose their right to log in, and all sessions end, except those of the server processes in `keep`. */
  evict(keep?: readonly number[]): Promise<void>;
}

export const reachServer = (door: ServerDoor): LivePostgres => ({
  pid: door.pid,
  port: door.port,
  socketDir: door.socketDir,
  login: (user) => doorLogin(door, user),
  url: (database = "postgres") => socketUrl(doorLogin(door), database),
  isOpen: async () => (await readDoor(door)) === "open",
  secure: () => secureServer(door),
  evict: (keep) => evictFromServer(door, keep),
});

/** Whether a version that let logins in without a password made the database in this data directory. */
export const isOfEarlierVersion = (dataDir: string): boolean => areForeignRules(clusterPath(dataDir));

/** Is a server alive on this data directory? */
export const probePostgres = (dataDir: string): PostgresProbe => {
  const cluster = clusterPath(dataDir);
  return probeCluster(cluster, nameCluster(cluster));
};

/** Undefined when none is alive, or it has not opened its socket yet. A missing key is made when `makeKey` says so. */
export const findLivePostgres = (dataDir: string, { makeKey }: { makeKey: boolean }): LivePostgres | undefined => {
  const { state, file } = probePostgres(dataDir);
  if (state !== "live" || file?.socketDir === undefined) return undefined;
  const { pid, port, socketDir } = file;
  const key = makeKey ? ensureKey(dataDir) : tryReadKey(dataDir);
  if (key === undefined) return undefined;
  return reachServer({ pid, port, socketDir, cluster: clusterPath(dataDir), key });
};
