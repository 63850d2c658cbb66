// Where throw-away clusters lie: in memory when nothing is synced and the machine has room there, else in the temp directory. A
// database of its own for every test is thousands of files made and removed; on a disk most of a test's time goes into that
// (ext4 looks for numbers of files that were not in use a moment ago), though nothing of them shall ever be on it.

import { statfsSync, statSync } from "node:fs";
import { type RunAs, temporaryRoot } from "@toolplane/processes";

const MEMORY = "/dev/shm";
// Several servers with their logs, and the databases of several workers, are well below a quarter of it.
const ROOM_BYTES = 4 * 1024 ** 3;

// Everybody may make directories in it and pass through, and only their owners may remove them.
const OPEN_MODE = 0o1777;

const hasRoom = (): boolean => {
  try {
    if ((statSync(MEMORY).mode & OPEN_MODE) !== OPEN_MODE) return false;
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ROOM_BYTES && process.availableMemory() >= ROOM_BYTES;
  } catch {
    // Other systems have no such place.
    return false;
  }
};

/** A directory the server's user can pass through. A server that syncs is on the disk: in memory a sync costs nothing. */
export const clusterRoot = (runAs: RunAs | undefined, sync: boolean): string =>
  !sync && hasRoom() ? MEMORY : temporaryRoot(runAs);
