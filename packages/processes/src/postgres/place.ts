// Decides where a cluster and the programs are, and remembers it.
// Normally the cluster is under the data directory and the programs are where npm put them. When the server's user cannot reach
// one of them (a checkout in a closed home directory), the cluster goes to /var/lib/toolplane/<hash of the data directory>, with
// a copy of the programs beside it, and <data>/location says so. Once data has moved there, that note decides, whatever the
// permissions say later.

import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ToolplaneError } from "@toolplane/protocol";
import { cacheDirectory } from "./cache-directory.ts";
import { handOver, makePassage } from "./ownership.ts";
import { copyHome, copyName, type PostgresBinaries, readPostgresBinaries } from "./postgres-binaries.ts";
import { canReach, pickPreviousRunAs, type RunAs } from "./run-as.ts";

/** What <data>/location says. */
export interface Location {
  readonly data?: string;
  readonly programs?: string;
  readonly reason: string;
}

export interface Place {
  /** Holds cluster/, socket/ and server.log; closed to others. As root, the server's user can only pass through it. */
  readonly home: string;
  readonly binaries: PostgresBinaries;
  readonly location: Location | undefined;
}

export interface PlaceOptions {
  readonly dataDir: string;
  readonly runAs: RunAs | undefined;
  readonly binaries: PostgresBinaries;
  /** A throw-away cluster leaves nothing in /var/lib: copies of programs go to the cache. */
  readonly throwAway: boolean;
  /** Where moved things go; /var/lib/toolplane unless told. */
  readonly movedRoot: string;
}

const LOCATION_FILE = "location";

export const tryParseLocation = (text: string): Location | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || !("reason" in value) || typeof value.reason !== "string") {
      return undefined;
    }
    const data = "data" in value && typeof value.data === "string" ? { data: value.data } : {};
    const programs = "programs" in value && typeof value.programs === "string" ? { programs: value.programs } : {};
    return { ...data, ...programs, reason: value.reason };
  } catch {
    return undefined;
  }
};

/** The note left in a data directory, if any. */
export const readLocation = (dataDir: string): Location | undefined => {
  const path = join(dataDir, LOCATION_FILE);
  if (!existsSync(path)) return undefined;
  const location = tryParseLocation(readFileSync(path, "utf8"));
  if (location === undefined) {
    throw new ToolplaneError(
      "storage_error",
      `${path} cannot be understood; it says where the database of this directory is`,
      { detail: { todo: "restore the file, or start with another --data" } },
    );
  }
  return location;
};

const movedHome = (root: string, dataDir: string): string =>
  join(root, createHash("sha256").update(realpathSync(dataDir)).digest("hex").slice(0, 16));

/** Makes `path` and any missing parents; those parents must be passable for the server's user. */
const makePassable = (path: string): void => {
  if (existsSync(path)) return;
  makePassable(dirname(path));
  mkdirSync(path);
  chmodSync(path, 0o755);
};

const makeHome = (path: string, runAs: RunAs | undefined): void => {
  makePassable(dirname(path));
  mkdirSync(path, { recursive: true, mode: 0o700 });
  makePassage(path, runAs);
};

/** No server may be running in it: its files would be moved while it uses them. */
const takeOver = (home: string, runAs: RunAs | undefined): void => {
  const previous = pickPreviousRunAs();
  const owner = lstatSync(join(home, "cluster"), { throwIfNoEntry: false })?.uid;
  if (runAs === undefined || previous === undefined || owner !== previous.uid || owner === runAs.uid) return;
  // Its own owner is changed last, and shows at the next start whether the change was finished.
  const names = readdirSync(home).filter((name) => name !== "cluster");
  for (const name of [...names, "cluster"]) handOver(join(home, name), { from: previous, to: runAs });
};

/** One copy of a version serves every data directory: it is sixty megabytes and is not deleted with the data. */
const placePrograms = (options: PlaceOptions): PostgresBinaries => {
  const { binaries, runAs, movedRoot } = options;
  if (canReach(dirname(binaries.postgres), runAs, binaries.postgres)) return binaries;
  if (!options.throwAway) makePassable(movedRoot);
  const where = options.throwAway ? cacheDirectory(runAs) : movedRoot;
  return readPostgresBinaries(copyHome(binaries.home, join(where, copyName(binaries.version))));
};

/** Makes the directories and copies what must be copied; says where everything is. No server may run there. */
export const preparePlace = (options: PlaceOptions): Place => {
  const { dataDir, runAs } = options;
  mkdirSync(dataDir, { recursive: true });
  const moved = (): string => movedHome(options.movedRoot, dataDir);
  const noted = readLocation(dataDir);
  let home = join(noted?.data ?? dataDir, "postgres");
  makeHome(home, runAs);
  // Existing data is never left behind for an empty cluster elsewhere; the start fails below instead.
  if (!canReach(home, runAs) && noted?.data === undefined && !existsSync(join(home, "cluster"))) {
    rmSync(home, { recursive: true });
    home = join(moved(), "postgres");
    makeHome(home, runAs);
  }
  if (!canReach(home, runAs)) {
    throw new ToolplaneError(
      "storage_error",
      `the database server's user (uid ${runAs?.uid ?? "ours"}) cannot enter ${home}`,
      { detail: { todo: "open the folders above it to that user, or start with another --data" } },
    );
  }
  takeOver(home, runAs);
  const binaries = placePrograms(options);
  const location = describeMoves(options, home, binaries);
  if (location !== undefined)
    writeFileSync(join(dataDir, LOCATION_FILE), `${JSON.stringify(location, undefined, 2)}\n`);
  return { home, binaries, location };
};

const describeMoves = (options: PlaceOptions, home: string, binaries: PostgresBinaries): Location | undefined => {
  const data = dirname(home) === options.dataDir ? {} : { data: dirname(home) };
  const programs = binaries.home === options.binaries.home ? {} : { programs: binaries.home };
  if (Object.keys(data).length === 0 && Object.keys(programs).length === 0) return undefined;
  const reason = `PostgreSQL does not run as root, and uid ${options.runAs?.uid ?? "?"} cannot enter the original place`;
  return { ...data, ...programs, reason };
};
