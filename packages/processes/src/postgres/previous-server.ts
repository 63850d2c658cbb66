// Makes room on a cluster for a new server: waits for one that is shutting down, removes what a killed one left.
// PostgreSQL removes a stale postmaster.pid by itself, except when the number in it now belongs to another program of the same
// user. And it refuses to start while a backend of a killed server still runs (a backend notices the death only between
// statements). Both are handled here without a person.
// PV1. A file is removed only when PostgreSQL would fail because of it: two parents that start at the same moment must not take
//     each other's fresh file for a stale one.
// PV2. Only a backend without a living server is ended; its transaction cannot commit any more.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ToolplaneError } from "@toolplane/protocol";
import { trySignal } from "../table/end-family.ts";
import { planOrphans, readClusterProcesses } from "./cluster-processes.ts";
import { type PostgresProbe, probeCluster } from "./postmaster-file.ts";

export interface MakeRoomOptions {
  readonly cluster: string;
  readonly clusterName: string;
  readonly socketDir: string;
  readonly port: number;
  /** How long a live server is waited for. */
  readonly patienceMs: number;
}

const POLL_MS = 20;

/** Throws `conflict` when a live server stays. */
export const untilNotLive = async ({
  cluster,
  clusterName,
  patienceMs,
}: Pick<MakeRoomOptions, "cluster" | "clusterName" | "patienceMs">): Promise<PostgresProbe> => {
  const deadline = performance.now() + patienceMs;
  let probe = probeCluster(cluster, clusterName);
  while (probe.state === "live" && performance.now() < deadline) {
    await delay(POLL_MS);
    probe = probeCluster(cluster, clusterName);
  }
  if (probe.state !== "live") return probe;
  const pid = probe.file?.pid;
  throw new ToolplaneError("conflict", `a database server is already running on ${cluster} (process ${pid})`, {
    detail: { pid },
  });
};

/** Returns when a server may be started on the cluster; throws `conflict` when a live one stays. */
export const makeRoom = async (options: MakeRoomOptions): Promise<void> => {
  const { cluster, clusterName, socketDir, port } = options;
  const { state } = await untilNotLive(options);
  const orphans = (): readonly number[] => planOrphans(readClusterProcesses(cluster, clusterName));
  for (let left = orphans(); left.length > 0; left = orphans()) {
    for (const pid of left) trySignal(pid, "SIGKILL");
    await delay(POLL_MS);
  }
  if (state !== "foreign") return;
  await rm(join(cluster, "postmaster.pid"), { force: true });
  await rm(join(socketDir, `.s.PGSQL.${port}.lock`), { force: true });
};
