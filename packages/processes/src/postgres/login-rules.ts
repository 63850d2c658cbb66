// pg_hba.conf: who may log in, and how. Every login is asked for its password, whatever way it comes.

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

/** Whether there are rules, and they are not of this making. */
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
  // "wx": a name that another process of the cluster's owner prepared is not followed.
  const file = openSync(fresh, "wx", 0o600);
  try {
    writeFileSync(file, LOGIN_RULES[rules]);
    fchownSync(file, uid, gid);
  } finally {
    closeSync(file);
  }
  renameSync(fresh, path);
};
