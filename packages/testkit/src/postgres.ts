// Real PostgreSQL servers for tests: throw-away ones from npm, and Debian's for the oldest supported version.
// Nothing is synced to disk and everything is removed at the end; what is tested is the server, not the disk.

import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  type PostgresBinaries,
  type PostgresOptions,
  pickRunAs,
  type RunningPostgres,
  readPostgresBinaries,
  startPostgres,
  temporaryRoot,
} from "@toolplane/processes";
import { ToolplaneError } from "@toolplane/protocol";

export interface TestPostgresOptions extends Omit<PostgresOptions, "dataDir" | "unsafeNoSync"> {
  /** Sync to disk as in production; for tests that measure or kill the machine's cache. */
  readonly sync?: boolean;
}

// The server's user has to pass through; what is inside is closed by the server itself.
const makePassableTemp = (): string => {
  const path = mkdtempSync(join(temporaryRoot(pickRunAs()), "toolplane-pg-"));
  chmodSync(path, 0o711);
  return path;
};

/** A server of its own, gone with everything at the end of the `await using` block. */
export const startTestPostgres = async (options: TestPostgresOptions = {}): Promise<RunningPostgres> => {
  const { sync = false, ...rest } = options;
  const dataDir = makePassableTemp();
  const server = await startPostgres({ ...rest, dataDir, unsafeNoSync: !sync });
  const dispose = async (): Promise<void> => {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { ...server, stop: dispose, [Symbol.asyncDispose]: dispose };
};

/** Runs `body` with a throw-away server. */
export const withPostgres = async <T>(
  body: (server: RunningPostgres) => Promise<T>,
  options: TestPostgresOptions = {},
): Promise<T> => {
  await using server = await startTestPostgres(options);
  return await body(server);
};

/** Debian's programs of that major version; says how to get them when they are missing. */
export const findDebianPostgres = (major = 15): PostgresBinaries => {
  const home = `/usr/lib/postgresql/${major}`;
  if (existsSync(join(home, "bin", "postgres"))) return readPostgresBinaries(home);
  throw new ToolplaneError(
    "not_found",
    `PostgreSQL ${major} is not installed in ${home}; on Debian or Ubuntu: apt-get install postgresql-${major}`,
  );
};

/** A throw-away server of Debian's PostgreSQL. */
export const startDebianPostgres = (
  options: TestPostgresOptions & { major?: number } = {},
): Promise<RunningPostgres> => {
  const { major = 15, ...rest } = options;
  return startTestPostgres({ ...rest, binaries: findDebianPostgres(major) });
};
