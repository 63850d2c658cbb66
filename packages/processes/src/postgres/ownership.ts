// Changes the owner of a database's files. Earlier versions ran the server as `nobody` when started as root; its files are given
// to the database's own user.
//   OF1. Only files of the previous user are changed: a file of another user behind a link keeps its owner.
//   OF2. A folder is changed after its content, so an interrupted change is seen and finished at the next start.
//   OF3. The entry that was checked is the entry that is changed. A process of the previous user may still hold a folder open and
//       swap its entries, so on Linux every entry is held by a descriptor from the check to the change, and not opened by path
//       again.

import {
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lchownSync,
  lstatSync,
  openSync,
  readdirSync,
  type Stats,
} from "node:fs";
import { join } from "node:path";
import { ToolplaneError } from "@toolplane/protocol";
import type { RunAs } from "./run-as.ts";

/** Of Linux, missing in Node's constants: a descriptor that only names its file. It opens links and devices without effect. */
const O_PATH = 0o10_000_000;

const isLinux = process.platform === "linux";

interface HandOver {
  readonly from: Pick<RunAs, "uid">;
  readonly to: RunAs;
  /** Called between the look at an entry and its change; tests swap the entry there. */
  readonly looked?: ((path: string) => void) | undefined;
}

const refuseHardLink = (path: string): ToolplaneError =>
  new ToolplaneError(
    "storage_error",
    `${path} has a second name (a hard link) and is not given to the database's user`,
    {
      detail: { todo: "find its other name with `find / -samefile`; remove the name that does not belong there" },
    },
  );

/** A file with a second name: that name may be outside, and the file of another program would change its owner. */
const isGiven = (path: string, stat: Stats, from: HandOver["from"]): boolean => {
  if (stat.uid !== from.uid) return false;
  if (stat.isFile() && stat.nlink > 1) throw refuseHardLink(path);
  return true;
};

/** On other systems than Linux only paths are available: a running process of the previous user can swap an entry. */
const handOverByPath = (path: string, giving: HandOver): void => {
  const stat = lstatSync(path);
  if (stat.isDirectory()) for (const name of readdirSync(path)) handOverByPath(join(path, name), giving);
  if (isGiven(path, stat, giving.from)) lchownSync(path, giving.to.uid, giving.to.gid);
};

/** `at`: the same entry, named through the descriptor of its folder. `path` is for people. */
const handOverHeld = (at: string, path: string, giving: HandOver): void => {
  const held = openSync(at, O_PATH | constants.O_NOFOLLOW);
  try {
    const stat = fstatSync(held);
    const self = `/proc/self/fd/${held}`;
    if (stat.isDirectory())
      for (const name of readdirSync(self)) handOverHeld(`${self}/${name}`, join(path, name), giving);
    const given = isGiven(path, stat, giving.from);
    giving.looked?.(path);
    // This kernel link leads to the held file itself, even when that is a link.
    if (given) chownSync(self, giving.to.uid, giving.to.gid);
  } finally {
    closeSync(held);
  }
};

/** Everything in `path` and itself; links are not followed. */
export const handOver = (path: string, giving: HandOver): void =>
  isLinux ? handOverHeld(path, path, giving) : handOverByPath(path, giving);

const openFolder = (path: string): number => {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (cause) {
    throw new ToolplaneError("storage_error", `${path} must be a folder; a link or a file is in its place`, {
      detail: { todo: "remove what is there, and start again" },
      cause,
    });
  }
};

/** Changes a folder and nothing else: a link that another user put in its place is refused, not followed. */
export const changeFolder = (path: string, mode: number, owner: RunAs | undefined): void => {
  const held = openFolder(path);
  try {
    if (owner !== undefined) fchownSync(held, owner.uid, owner.gid);
    fchmodSync(held, mode);
  } finally {
    closeSync(held);
  }
};

/** A folder that the server's user may pass through but not list or write, and that no other user may enter. */
export const makePassage = (path: string, runAs: RunAs | undefined): void => {
  const owner = runAs === undefined ? undefined : { uid: process.getuid?.() ?? 0, gid: runAs.gid };
  changeFolder(path, runAs === undefined ? 0o700 : 0o710, owner);
};
