// A secret that a data directory makes for itself: a file of 64 hexadecimal digits.
//   SF1. The file is 0600 from the moment it has a name, and appears whole or not at all. When two processes make it at the same
//       moment, both use the first one's.
//   SF2. A file that a full disk or a power cut left incomplete is not a secret: it is made again.

import { randomBytes } from "node:crypto";
import { chmodSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";

const BYTES = 32;
const MODE = 0o600;
const OTHERS_ANYTHING = 0o077;

const isNoEntry = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT";

/** Undefined when there is none. */
export const tryReadSecret = (path: string): string | undefined => {
  try {
    if ((statSync(path).mode & OTHERS_ANYTHING) !== 0) chmodSync(path, MODE);
    const secret = readFileSync(path, "utf8").trim();
    if (secret.length === 2 * BYTES) return secret;
    rmSync(path);
    return undefined;
  } catch (error) {
    if (isNoEntry(error)) return undefined;
    throw error;
  }
};

export const ensureSecret = (path: string): string => {
  for (;;) {
    const secret = tryReadSecret(path);
    if (secret !== undefined) return secret;
    const fresh = `${path}.${randomBytes(6).toString("hex")}`;
    writeFileSync(fresh, `${randomBytes(BYTES).toString("hex")}\n`, { mode: MODE, flag: "wx", flush: true });
    try {
      // Unlike a rename it fails when another process was first.
      linkSync(fresh, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    } finally {
      rmSync(fresh, { force: true });
    }
  }
};
