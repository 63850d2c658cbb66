// A directory for one test's data that the server's user can pass through.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "@toolplane/processes";
import { copyTemplate, makeTestDirectory } from "@toolplane/testkit";

export interface DataDirectory extends AsyncDisposable {
  readonly path: string;
}

export const makeDataDirectory = async (below = ""): Promise<DataDirectory> => {
  const { path, remove } = await makeTestDirectory({ disk: true });
  mkdirSync(join(path, below), { recursive: true });
  return { path: join(path, below), [Symbol.asyncDispose]: remove };
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
  const directory = await makeTestDirectory();
  const path = join(directory.path, "data");
  await copyTemplate(USED_CLUSTER, path);
  return { path, [Symbol.asyncDispose]: directory.remove };
};
