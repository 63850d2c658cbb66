// The user numbers that tool hosts run under when we are root. Only this file decides them.
// LU1. A host's user is neither ours nor the database's: it comes from a range of its own, without the database's number.
// LU2. Every process gets its own number, so hosts cannot read each other, and every process with that number came from it.
// LU3. A number needs no account. It owns nothing but a home directory, which is removed with it.

import { chmodSync, chownSync, lstatSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ToolplaneError } from "@toolplane/protocol";
import { temporaryRoot } from "../postgres/cache-directory.ts";
import { pickRunAs, type RunAs } from "../postgres/run-as.ts";
import { removeFolder } from "../table/remove-folder.ts";

/** Both ends included. */
export interface UidRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Ranges that neither people nor systemd assign (its table "Users, Groups, UIDs and GIDs" calls them unused). In the first
 * range, of 268 million, a random number is practically always free. The second is for containers that map only the first
 * 65,536; it begins after the user of the database (run-as.ts).
 */
export const HOST_UIDS: readonly UidRange[] = [
  { first: 1_879_048_192, last: 2_147_352_575 },
  { first: 60_743, last: 61_183 },
];

export interface LentUser extends RunAs {
  /** Its own, empty, and closed to others. */
  readonly home: string;
  /** When nothing runs under it any more. */
  takeBack(): Promise<void>;
}

/** Each line of /proc/self/uid_map: first number here, first number outside, how many. */
export const parseUidMap = (text: string): readonly UidRange[] =>
  text.split("\n").flatMap((line) => {
    const [first, , count] = line.trim().split(/\s+/).map(Number);
    return first === undefined || count === undefined || !(count > 0) ? [] : [{ first, last: first + count - 1 }];
  });

export interface UidChoice {
  /** The numbers this system can give; undefined where it does not say, which means all. */
  readonly mapped: readonly UidRange[] | undefined;
  readonly taken: readonly number[];
  readonly random: () => number;
}

/** Undefined when this system has no number to lend. */
export const planUid = ({ mapped, taken, random }: UidChoice): number | undefined => {
  const usable = ({ first, last }: UidRange): boolean =>
    mapped === undefined || mapped.some((range) => range.first <= first && last <= range.last);
  const range = HOST_UIDS.find(usable);
  if (range === undefined) return undefined;
  const size = range.last - range.first + 1;
  const start = Math.floor(random() * size);
  for (let step = 0; step < Math.min(size, taken.length + 1); step += 1) {
    const uid = range.first + ((start + step) % size);
    if (!taken.includes(uid)) return uid;
  }
  return undefined;
};

const readMapped = (): readonly UidRange[] | undefined => {
  try {
    return parseUidMap(readFileSync("/proc/self/uid_map", "utf8"));
  } catch {
    return undefined;
  }
};

/** Numbers that this process has lent and not taken back. */
const lent = new Set<number>();

const HOME_PREFIX = "toolplane-host-";
const HOME_NAME = /^toolplane-host-(\d+)-/;

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
};

/** Homes of a process that was killed: it could not take its users back. Nothing waits for it; what stays is looked at again. */
const removeLeftHomes = (root: string): void => {
  for (const name of readdirSync(root)) {
    const pid = Number(HOME_NAME.exec(name)?.[1]);
    if (!Number.isInteger(pid) || isAlive(pid)) continue;
    const path = join(root, name);
    try {
      const found = lstatSync(path);
      // Only a folder of a lent user, and with that user's own rights.
      if (found.isDirectory() && found.uid !== 0) void removeFolder(path, found.uid);
    } catch {
      // Another process has removed it.
    }
  }
};

/** Undefined when we are not root: then no user can be lent. */
export const lendUser = (random: () => number): LentUser | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const database = pickRunAs();
  const uid = planUid({ mapped: readMapped(), taken: [...lent, ...(database ? [database.uid] : [])], random });
  if (uid === undefined) {
    throw new ToolplaneError("upstream_unavailable", "this system has no free user number to run a host under", {
      detail: { todo: "map user numbers 0 to 65535 into the container, or write `user: inherit` for the host" },
    });
  }
  lent.add(uid);
  const user = { uid, gid: uid };
  const root = temporaryRoot(user);
  removeLeftHomes(root);
  const home = mkdtempSync(join(root, `${HOME_PREFIX}${process.pid}-`));
  chownSync(home, uid, uid);
  chmodSync(home, 0o700);
  return {
    ...user,
    home,
    takeBack: async () => {
      await removeFolder(home, uid);
      lent.delete(uid);
    },
  };
};
