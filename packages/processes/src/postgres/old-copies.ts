// Copies of the programs that are not used any more. Earlier versions made one for every data directory, sixty megabytes in
// <moved root>/<hash of the data directory>/programs-<version>-<arch>; now one beside those folders serves all of them.
//   OC1. Only what is certainly ours is removed: that name, a folder and no link, made by this user, with a server program
//       inside.
//   OC2. A copy that a process runs from is never removed; where that cannot be seen, nothing is removed.
//   OC3. A database is never removed: it lies beside the copy and is found again by the path of its data directory.

import { randomBytes } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readlinkSync, renameSync, rmdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, sep } from "node:path";

const HASH = /^[0-9a-f]{16}$/;
const COPY = /^programs-[0-9][0-9A-Za-z.]{0,30}-[a-z0-9]{1,10}$/;
/** The name of a copy that is being removed; a leftover with this name is not used as a copy. */
const REMOVING = /^removing-[0-9a-f]{12}$/;

const isOwnDirectory = (path: string): boolean => {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === process.getuid?.();
};

const listDirectories = (path: string, name: RegExp): readonly string[] =>
  readdirSync(path)
    .filter((entry) => name.test(entry))
    .map((entry) => join(path, entry))
    .filter(isOwnDirectory);

const tryReadProgram = (pid: string): string => {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    // Ended meanwhile, or a part of the kernel.
    return "";
  }
};

/** The programs that run now; undefined where the system does not show them. */
const readRunningPrograms = (): readonly string[] | undefined => {
  if (tryReadProgram("self") === "") return undefined;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(tryReadProgram);
};

const removeCopy = async (copy: string, home: string): Promise<void> => {
  // Renamed first, so that half a copy is never taken for a whole one.
  const going = REMOVING.test(copy.slice(home.length + 1))
    ? copy
    : join(home, `removing-${randomBytes(6).toString("hex")}`);
  if (going !== copy) renameSync(copy, going);
  await rm(going, { recursive: true, force: true });
};

/** One home's copies; undefined where it cannot be seen what runs. */
const tidyHome = async (home: string, stop: AbortSignal): Promise<number | undefined> => {
  const copies = listDirectories(home, COPY).filter((copy) => existsSync(join(copy, "native", "bin", "postgres")));
  const left = listDirectories(home, REMOVING);
  // Checked again for every home: removing takes time, and a server may start meanwhile.
  const running = copies.length + left.length === 0 ? [] : readRunningPrograms();
  if (running === undefined) return undefined;
  const unused = copies.filter((copy) => !running.some((file) => file.startsWith(copy + sep)));
  let removed = 0;
  for (const copy of [...left, ...unused]) {
    if (stop.aborted) return removed;
    await removeCopy(copy, home);
    removed += 1;
  }
  if (readdirSync(home).length === 0) rmdirSync(home);
  return removed;
};

/** Another process that starts at this moment removes the same. */
const isOthersWork = (error: unknown): boolean =>
  ["ENOENT", "ENOTEMPTY"].includes((error as NodeJS.ErrnoException).code ?? "");

/** Removes them one by one until told to stop; says how many went. */
export const removeOldCopies = async (root: string, stop: AbortSignal): Promise<number> => {
  let removed = 0;
  for (const home of existsSync(root) ? listDirectories(root, HASH) : []) {
    try {
      const count = await tidyHome(home, stop);
      if (count === undefined) return removed;
      removed += count;
    } catch (error) {
      if (!isOthersWork(error)) throw error;
    }
    if (stop.aborted) return removed;
  }
  return removed;
};
