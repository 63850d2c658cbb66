// Where Node keeps compiled code between runs. What lies there is run, and Node does not look whose it is: its own place has a
// guessable name in the temp directory, where another user may have made it first. So it is a folder of ours, closed to others.

import { lstatSync, mkdirSync, statSync } from "node:fs";
import module from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const OTHERS_WRITE = 0o002;
const STICKY = 0o1000;
const OTHERS_ANYTHING = 0o077;

/** @param {number} uid */
const makeOwnFolder = (uid) => {
  const { mode } = statSync(tmpdir());
  // Without the sticky bit another user could put a folder in the place of ours.
  if ((mode & OTHERS_WRITE) !== 0 && (mode & STICKY) === 0) return undefined;
  const path = join(tmpdir(), `toolplane-code-${uid}`);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") return undefined;
  }
  const found = lstatSync(path);
  return found.isDirectory() && found.uid === uid && (found.mode & OTHERS_ANYTHING) === 0 ? path : undefined;
};

/** Compiled code of the last run is used again: starting is then mostly reading. Without a safe place nothing is kept. */
export const keepCompiledCode = () => {
  const uid = process.getuid?.();
  // A place that the operator named, or a system where the temp directory is the user's own.
  if (process.env.NODE_COMPILE_CACHE !== undefined || uid === undefined) return module.enableCompileCache();
  try {
    const path = makeOwnFolder(uid);
    if (path !== undefined) module.enableCompileCache(path);
  } catch {
    // A sandbox: the program starts without it.
  }
};
