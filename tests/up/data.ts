// A place for the data of one test's planes.
// Most tests are not about a first start: they take a copy of a data directory that `toolplane up` has used before, which
// saves making a cluster, its logins and its tables.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "@toolplane/protocol";
import { copyTemplate, makeTestDirectory, type TestDirectory } from "@toolplane/testkit";
import { startUp } from "./up-process.ts";

export interface Place extends AsyncDisposable {
  /** A directory that is there. */
  readonly root: string;
  /** A data directory below it. */
  readonly dataDir: string;
}

const placeIn = ({ path, remove }: TestDirectory, below: string): Place => {
  mkdirSync(join(path, below), { recursive: true });
  return { root: path, dataDir: join(path, below, "data"), [Symbol.asyncDispose]: remove };
};

/** With a data directory that is not there yet: a first start is on the disk, as in production. */
export const makePlace = async (): Promise<Place> => placeIn(await makeTestDirectory({ disk: true }), "");

const useOnce = async (dataDir: string): Promise<void> => {
  await using up = startUp({ dataDir });
  await up.ready();
  const code = await up.stop();
  if (code !== 0) throw new UsageError(`the first start of the run ended with ${code}:\n${up.stderr()}`);
};

/** Makes a data directory at a path that is not there yet: one with a first start behind it, and nothing in it. */
export const copyUsedData = (dataDir: string): Promise<void> =>
  copyTemplate({ name: "used-data", make: useOnce }, dataDir);

/** With a data directory that has its first start behind it, and nothing in it. In memory: a disk takes longer for its files. */
export const makeUsedPlace = async (below = ""): Promise<Place> => {
  const place = placeIn(await makeTestDirectory(), below);
  await copyUsedData(place.dataDir);
  return place;
};
