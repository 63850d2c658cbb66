// A fresh place for one test's data, passable for the database's user, removed at the end even if the run is killed.

import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { processGuard } from "@toolplane/processes";

export interface Place extends AsyncDisposable {
  /** A directory that is there. */
  readonly root: string;
  /** A data directory below it that is not there yet. */
  readonly dataDir: string;
}

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
