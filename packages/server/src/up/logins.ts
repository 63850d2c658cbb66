// The logins of an embedded database. The plane runs as one that owns nothing; another owns the tables, applies
// migrations and is the operator's way in; the superuser only makes these two.
//   LG1. What the plane's login may do is what the role toolplane_engine may do: it reads and writes rows, and can neither
//       run a program, read a file, nor make a function, an extension or a role.
//   LG2. <data>/database-url is the owner's URL, 0600 from the moment it has a name, and written at every start: the socket
//       may be elsewhere.

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
      // Programs of other makers log in as the owner, and some refuse fewer rounds.
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
  // "wx": a name that another process prepared is not followed.
  writeFileSync(fresh, `${url}\n`, { mode: MODE, flag: "wx" });
  chmodSync(fresh, MODE);
  renameSync(fresh, path);
};
