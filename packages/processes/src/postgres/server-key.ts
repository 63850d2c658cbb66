// The secret of an embedded server: <data>/database-key, from which the password of each of its logins is derived.
//   SK1. It belongs to the user that runs us: root, not the server's user (secrets/secret-file.ts).
//   SK2. The server never sees a password: it gets SCRAM verifiers, which can check a password and do not reveal it.
//   SK3. A lost key is made again; the server is then upgraded to it like a server of an earlier version.

import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { join } from "node:path";
import { ToolplaneError } from "@toolplane/protocol";
import { ensureSecret, tryReadSecret } from "../secrets/secret-file.ts";

export interface ServerKey {
  passwordOf(login: string): string;
  /** Tells keys apart without showing them. */
  readonly id: string;
}

export const keyPath = (dataDir: string): string => join(dataDir, "database-key");

const toKey = (secret: string): ServerKey => ({
  passwordOf: (login) => createHmac("sha256", secret).update(`login ${login}`).digest("hex"),
  id: createHash("sha256").update(secret).digest("hex").slice(0, 8),
});

const within = <T>(path: string, work: (path: string) => T): T => {
  try {
    return work(path);
  } catch (cause) {
    throw new ToolplaneError("storage_error", `the database's key ${path} cannot be read or made`, {
      detail: { todo: "run as the user it belongs to, or remove it: a new one is made then" },
      cause,
    });
  }
};

/** Undefined when there is none. */
export const tryReadKey = (dataDir: string): ServerKey | undefined => {
  const secret = within(keyPath(dataDir), tryReadSecret);
  return secret === undefined ? undefined : toKey(secret);
};

export const ensureKey = (dataDir: string): ServerKey => toKey(within(keyPath(dataDir), ensureSecret));

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
