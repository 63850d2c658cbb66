// Where the cluster of a data directory is, and what its server calls itself.

import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { readLocation } from "./place.ts";

export const clusterPath = (dataDir: string): string =>
  join(readLocation(dataDir)?.data ?? resolve(dataDir), "postgres", "cluster");

/** What the titles of the server's processes carry. */
export const nameCluster = (cluster: string): string =>
  `toolplane-${createHash("sha256").update(cluster).digest("hex").slice(0, 12)}`;
