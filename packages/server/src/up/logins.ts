// The logins of an embedded database. The plane runs as a login that owns nothing; a second login owns the tables, applies
// migrations and is for the operator; the superuser only makes these two.
//   LG1. The plane's login has the rights of the role toolplane_engine: it reads and writes rows. It can not run a program, read
//       a file, or make a function, an extension or a role.
//   LG2. <data>/database-url is the owner's URL. It has mode 0600 from the moment it has a name, and is written at every start,
//       because the socket may have moved.

import { randomBytes } from "node:crypto";
import { chmodSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LivePostgres, makeVerifier, OWNER, RUNTIME, USUAL_ROUNDS } from "@toolplane/processes";
import pg from "pg";
import { setUpRoles } from "./logins.sql.ts";

const CONNECT_TIMEOUT_MS = 5_000;
const MODE = 0o600;

const databaseUrlPath = (dataDir: string): string => join(dataDir, "database-url");

/** Makes both logins, and makes the owner own what there is. */
export const setUpLogins = async (server: Pick<LivePostgres, "login" | "url">, database: string): Promise<void> => {
  const client = new pg.Client({
    connectionString: server.url(database),
    application_name: "toolplane logins",
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on("error", () => {});
  await client.connect();
  try {
    await setUpRoles(client, {
      // Other programs log in as the owner, and some refuse fewer rounds.
      owner: makeVerifier(server.login(OWNER).password, USUAL_ROUNDS),
      runtime: makeVerifier(server.login(RUNTIME).password),
    });
  } finally {
    await client.end().catch(() => {});
  }
};

export const writeDatabaseUrl = (dataDir: string, url: string): void => {
  const path = databaseUrlPath(dataDir);
  const fresh = `${path}.${randomBytes(6).toString("hex")}`;
  // "wx": fails if another process has put a file or link under this name.
  writeFileSync(fresh, `${url}\n`, { mode: MODE, flag: "wx" });
  chmodSync(fresh, MODE);
  renameSync(fresh, path);
};
