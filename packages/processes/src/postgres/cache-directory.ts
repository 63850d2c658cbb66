// A directory for things that are expensive to make and may be lost: copies of the programs, fresh empty clusters. It has a
// guessable name under the temp directory, so it is used only when we own it and no other user can write to it; otherwise another
// user could put programs there for us to run.

import { chmodSync, lstatSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canReach, type RunAs } from "./run-as.ts";

/** The temp directory that user can enter; a per-user TMPDIR is closed to others. */
export const temporaryRoot = (runAs: RunAs | undefined): string => (canReach(tmpdir(), runAs) ? tmpdir() : "/tmp");

const isOurs = (path: string): boolean => {
  const stat = lstatSync(path);
  return stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0;
};

/** The cache of this user; a private one when another user has taken its place. */
export const cacheDirectory = (runAs: RunAs | undefined): string => {
  const root = temporaryRoot(runAs);
  const path = join(root, `toolplane-cache-${process.getuid?.() ?? 0}`);
  try {
    mkdirSync(path);
    chmodSync(path, 0o755);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
  }
  if (isOurs(path)) return path;
  const unshared = mkdtempSync(join(root, "toolplane-cache-"));
  chmodSync(unshared, 0o755);
  return unshared;
};
