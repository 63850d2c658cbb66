// pg_hba.conf: which logins are let in, and how. Every login is asked for its password.

import { randomBytes } from "node:crypto";
import { closeSync, fchownSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SUPERUSER } from "./logins.ts";

const HEAD = "# Written by Toolplane. The passwords are derived from <data>/database-key.\n";

const LOGIN_RULES = {
  closed: `${HEAD}local all all scram-sha-256\nhost all all 127.0.0.1/32 scram-sha-256\n`,
  /** For the moment in which a server is given a new key. */
  open: `${HEAD}local all ${SUPERUSER} trust\n`,
} as const;

/** Whether rules exist that this version did not write. */
export const areForeignRules = (cluster: string): boolean => {
  try {
    return !readFileSync(join(cluster, "pg_hba.conf"), "utf8").startsWith(HEAD);
  } catch {
    return false;
  }
};

/** The server reads it at its start and when it is told to. The file appears whole, and the cluster's owner can read it. */
export const writeLoginRules = (cluster: string, rules: keyof typeof LOGIN_RULES): void => {
  const { uid, gid } = statSync(cluster);
  const path = join(cluster, "pg_hba.conf");
  const fresh = `${path}.${randomBytes(6).toString("hex")}`;
  // "wx": fails if another process of the cluster's owner has put a file or link under this name.
  const file = openSync(fresh, "wx", 0o600);
  try {
    writeFileSync(file, LOGIN_RULES[rules]);
    fchownSync(file, uid, gid);
  } finally {
    closeSync(file);
  }
  renameSync(fresh, path);
};
