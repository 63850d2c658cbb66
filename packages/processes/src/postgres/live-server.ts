// A server that is alive on a data directory and was not started by us: how to find it, reach it and close it.

import { clusterPath, nameCluster } from "./cluster-name.ts";
import { SUPERUSER } from "./logins.ts";
import { type PostgresProbe, probeCluster } from "./postmaster-file.ts";
import { closeServer, doorUrl, readDoor } from "./server-access.ts";
import { ensureKey, tryReadKey } from "./server-key.ts";

export interface LivePostgres {
  readonly pid: number;
  readonly socketDir: string;
  readonly port: number;
  /** It lets its superuser in without a password, as those of earlier versions did. */
  isOpen(): Promise<boolean>;
  /** A connection URL over the unix socket, with the password; the superuser's unless a login is named. */
  url(database?: string, login?: string): string;
  /** Makes sure that only the key opens it, and ends all sessions but those of the server's processes in `keep`. */
  close(keep?: readonly number[]): Promise<void>;
}

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
  const door = { pid, port, socketDir, cluster: clusterPath(dataDir), key };
  return {
    pid,
    port,
    socketDir,
    isOpen: async () => (await readDoor(door)) === "open",
    url: (database = "postgres", login = SUPERUSER) => doorUrl(door, database, login),
    close: (keep) => closeServer(door, keep),
  };
};
