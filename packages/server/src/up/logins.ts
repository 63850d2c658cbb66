// The logins of an embedded database. The plane runs as a login that owns nothing; a second login owns the tables, applies
// migrations and is for the operator; the superuser only makes these two.
//   LG1. The plane's login has the rights of the role toolplane_engine: it reads and writes rows. It can not run a program, read
//       a file, or make a function, an extension or a role.
//   LG2. <data>/database-url is the owner's URL. It has mode 0600 from the moment it has a name, and is written at every start,
//       because the socket may have moved.

import { join } from "node:path";
import { type LivePostgres, makeVerifier, OWNER, RUNTIME, USUAL_ROUNDS } from "@toolplane/processes";
import pg from "pg";
import { setUpRoles } from "./logins.sql.ts";
import { writeSecret } from "./token-file.ts";

const CONNECT_TIMEOUT_MS = 5_000;

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

export const writeDatabaseUrl = (dataDir: string, url: string): void => writeSecret(join(dataDir, "database-url"), url);
