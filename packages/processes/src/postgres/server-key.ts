// The secret of an embedded server: <data>/database-key, from which the password of each of its logins is derived.
//   SK1. The file is 0600 from the moment it has a name, belongs to the user that runs us (root, not the server's user), and
//       appears whole or not at all. When two processes make it at the same moment, both use the first one's.
//   SK2. The server never sees a password: it gets SCRAM verifiers, which can check a password and do not reveal it.
//   SK3. A lost key is made again; the server is then upgraded to it like a server of an earlier version.

import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { chmodSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolplaneError } from "@toolplane/protocol";

export interface ServerKey {
  passwordOf(login: string): string;
  /** Tells keys apart without showing them. */
  readonly id: string;
}

const KEY_BYTES = 32;
const MODE = 0o600;

export const keyPath = (dataDir: string): string => join(dataDir, "database-key");

const toKey = (secret: string): ServerKey => ({
  passwordOf: (login) => createHmac("sha256", secret).update(`login ${login}`).digest("hex"),
  id: createHash("sha256").update(secret).digest("hex").slice(0, 8),
});

/** Undefined when there is none. */
export const tryReadKey = (dataDir: string): ServerKey | undefined => {
  const path = keyPath(dataDir);
  try {
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, MODE);
    const secret = readFileSync(path, "utf8").trim();
    // A file that a full disk left incomplete is not a key.
    if (secret.length === 2 * KEY_BYTES) return toKey(secret);
    rmSync(path);
    return undefined;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new ToolplaneError("storage_error", `the database's key ${path} cannot be read`, {
      detail: { todo: "run as the user it belongs to, or remove it: a new one is made then" },
      cause,
    });
  }
};

export const ensureKey = (dataDir: string): ServerKey => {
  for (;;) {
    const key = tryReadKey(dataDir);
    if (key !== undefined) return key;
    const fresh = `${keyPath(dataDir)}.${randomBytes(6).toString("hex")}`;
    writeFileSync(fresh, `${randomBytes(KEY_BYTES).toString("hex")}\n`, { mode: MODE, flag: "wx", flush: true });
    try {
      // Unlike a rename it fails when another process was first.
      linkSync(fresh, keyPath(dataDir));
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    } finally {
      rmSync(fresh, { force: true });
    }
  }
};

// A derived password has 256 random bits: more rounds would not make it harder to guess, and would slow down every connection.
const ROUNDS = 1;
/** What other clients require. */
export const USUAL_ROUNDS = 4096;

/** What PostgreSQL stores of a password. */
export const makeVerifier = (password: string, rounds = ROUNDS): string => {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, rounds, 32, "sha256");
  const sign = (text: string): Buffer => createHmac("sha256", salted).update(text).digest();
  const stored = createHash("sha256").update(sign("Client Key")).digest("base64");
  return `SCRAM-SHA-256$${rounds}:${salt.toString("base64")}$${stored}:${sign("Server Key").toString("base64")}`;
};
