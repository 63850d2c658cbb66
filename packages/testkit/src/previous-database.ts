// A data directory as versions before the passwords left it: the superuser owns everything and is let in without a
// password, and as root the server runs as `nobody`, who owns the files.

import { chmodSync, chownSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Guard, pickPreviousRunAs, type RunningPostgres, startPostgres } from "@toolplane/processes";
import { until } from "./guarded-leftovers.ts";
import { withTestClient } from "./postgres-client.ts";
import { forgetPassword } from "./previous-database.sql.ts";

/** What initdb wrote with `--auth-local=trust --auth-host=scram-sha-256`. */
const RULES = `local all all trust
host all all 127.0.0.1/32 scram-sha-256
host all all ::1/128 scram-sha-256
local replication all trust
`;

export interface PreviousDatabaseOptions {
  readonly dataDir: string;
  /** Ends the server if the test dies. */
  readonly guard: Guard;
  /** Fills it as that version did, with the superuser's URL. */
  readonly fill: (url: string) => Promise<unknown>;
}

export interface PreviousDatabase {
  readonly server: RunningPostgres;
  /** The superuser without a password. */
  readonly url: string;
}

/** Runs; stop it for a directory that was left in good order. */
export const makePreviousDatabase = async (options: PreviousDatabaseOptions): Promise<PreviousDatabase> => {
  const { dataDir, guard, fill } = options;
  const runAs = pickPreviousRunAs();
  const server = await startPostgres({ dataDir, guard, unsafeNoSync: true, ...(runAs === undefined ? {} : { runAs }) });
  await fill(server.url());
  const home = join(dataDir, "postgres");
  writeFileSync(join(home, "cluster", "pg_hba.conf"), RULES);
  await withTestClient(server.url(), forgetPassword);
  await until("the server to be open", () => server.isOpen());
  rmSync(join(dataDir, "database-key"));
  chmodSync(home, 0o700);
  if (runAs !== undefined) chownSync(home, runAs.uid, runAs.gid);
  return { server, url: server.url().replace(/:[^:@/]*@/, "@") };
};
