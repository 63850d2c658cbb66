// A directory for the data of one test, removed at its end. The guard knows it before it exists, so a killed test run leaves none
// behind.

import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pickRunAs, processGuard } from "@toolplane/processes";
import { clusterRoot } from "./postgres-root.ts";

export interface TestDirectory extends AsyncDisposable {
  readonly path: string;
  remove(): Promise<void>;
}

export interface TestDirectoryOptions {
  /** On the disk, as in production: for what syncs, and for first starts. Otherwise in memory if the machine has room there. */
  readonly disk?: boolean;
}

/** The server's user can pass through it; what is inside is closed by the server itself. */
export const makeTestDirectory = async ({ disk = false }: TestDirectoryOptions = {}): Promise<TestDirectory> => {
  const path = join(clusterRoot(pickRunAs(), disk), `toolplane-test-${randomBytes(6).toString("hex")}`);
  const watch = await processGuard().watch({ label: "test directory", removeDir: path });
  mkdirSync(path);
  chmodSync(path, 0o711);
  const remove = async (): Promise<void> => {
    rmSync(path, { recursive: true, force: true, maxRetries: 5 });
    await watch.forget();
  };
  return { path, remove, [Symbol.asyncDispose]: remove };
};
