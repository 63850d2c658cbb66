// A directory for one test's data, which the server's user can pass through, removed at the end even if the run is
// killed.

import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { processGuard, startPostgres } from "@toolplane/processes";
import { copyTemplate } from "@toolplane/testkit";

export interface DataDirectory extends AsyncDisposable {
  readonly path: string;
}

export const makeDataDirectory = async (mode = 0o711, below = ""): Promise<DataDirectory> => {
  const top = join("/tmp", `toolplane-test-${randomBytes(6).toString("hex")}`);
  const watch = await processGuard().watch({ label: "test directory", removeDir: top });
  mkdirSync(join(top, below), { recursive: true });
  chmodSync(top, mode);
  const dispose = async (): Promise<void> => {
    rmSync(top, { recursive: true, force: true, maxRetries: 5 });
    await watch.forget();
  };
  return { path: join(top, below), [Symbol.asyncDispose]: dispose };
};

const USED_CLUSTER = {
  name: "used-cluster",
  make: async (path: string): Promise<void> => {
    mkdirSync(path);
    const server = await startPostgres({ dataDir: path, unsafeNoSync: true });
    await server.stop();
  },
};

/** With a cluster that was started and stopped before: to make one takes longer than what most tests do with it. */
export const makeUsedDirectory = async (): Promise<DataDirectory> => {
  const directory = await makeDataDirectory();
  const path = join(directory.path, "data");
  await copyTemplate(USED_CLUSTER, path);
  return { ...directory, path };
};
