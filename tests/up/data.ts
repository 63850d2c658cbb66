// A place for one test's data, passable for the database's user, removed at the end even if the run is killed.
// Most tests are not about a first start: they take a copy of a data directory that `toolplane up` has used before, which
// saves making a cluster, its logins and its tables.

import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { processGuard } from "@toolplane/processes";
import { UsageError } from "@toolplane/protocol";
import { copyTemplate } from "@toolplane/testkit";
import { startUp } from "./up-process.ts";

export interface Place extends AsyncDisposable {
  /** A directory that is there. */
  readonly root: string;
  /** A data directory below it. */
  readonly dataDir: string;
}

/** With a data directory that is not there yet. */
export const makePlace = async (below = ""): Promise<Place> => {
  const root = join("/tmp", `toolplane-test-${randomBytes(6).toString("hex")}`);
  const watch = await processGuard().watch({ label: "test directory", removeDir: root });
  mkdirSync(join(root, below), { recursive: true });
  chmodSync(root, 0o711);
  return {
    root,
    dataDir: join(root, below, "data"),
    async [Symbol.asyncDispose]() {
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
      await watch.forget();
    },
  };
};

const useOnce = async (dataDir: string): Promise<void> => {
  await using up = startUp({ dataDir });
  await up.ready();
  const code = await up.stop();
  if (code !== 0) throw new UsageError(`the first start of the run ended with ${code}:\n${up.stderr()}`);
};

/** Makes a data directory at a path that is not there yet: one with a first start behind it, and nothing in it. */
export const copyUsedData = (dataDir: string): Promise<void> =>
  copyTemplate({ name: "used-data", make: useOnce }, dataDir);

/** With a data directory that has its first start behind it, and nothing in it. */
export const makeUsedPlace = async (below = ""): Promise<Place> => {
  const place = await makePlace(below);
  await copyUsedData(place.dataDir);
  return place;
};
