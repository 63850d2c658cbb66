// Real PostgreSQL servers for tests: throw-away ones from npm, and Debian's for the oldest supported version.
// Nothing is synced to disk and everything is removed at the end; what is tested is the server, not the disk.

import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  type PostgresBinaries,
  type PostgresOptions,
  type RunningPostgres,
  readPostgresBinaries,
  type SocketLogin,
  startPostgres,
} from "@toolplane/processes";
import { ToolplaneError } from "@toolplane/protocol";
import { makeTestDirectory, type TestDirectory } from "./test-directory.ts";

export interface TestPostgresOptions extends Omit<PostgresOptions, "dataDir" | "unsafeNoSync"> {
  /** Sync to disk as in production. */
  readonly sync?: boolean;
}

export interface TestPostgres extends RunningPostgres {
  /** Starts a server on the same data after `kill`; it is this one's successor and removes the data when it stops. */
  restart(): Promise<TestPostgres>;
}

/** What another process needs to reach it; plain data. */
export const describeLogin = (server: RunningPostgres): SocketLogin & { readonly version: string } => ({
  ...server.login(),
  version: server.version,
});

const startIn = async (directory: TestDirectory, options: TestPostgresOptions): Promise<TestPostgres> => {
  const { sync = false, ...rest } = options;
  const server = await startPostgres({ ...rest, dataDir: directory.path, unsafeNoSync: !sync });
  const stop = async (): Promise<void> => {
    await server.stop();
    await directory.remove();
  };
  return { ...server, stop, restart: () => startIn(directory, options), [Symbol.asyncDispose]: stop };
};

/** A server of its own, gone with everything at the end of the `await using` block. */
export const startTestPostgres = async (options: TestPostgresOptions = {}): Promise<TestPostgres> => {
  const directory = await makeTestDirectory({ disk: options.sync === true });
  try {
    return await startIn(directory, options);
  } catch (cause) {
    await directory.remove();
    throw cause;
  }
};

/** Runs `body` with a throw-away server. */
export const withPostgres = async <T>(
  body: (server: TestPostgres) => Promise<T>,
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
export const startDebianPostgres = async (
  options: TestPostgresOptions & { major?: number } = {},
): Promise<TestPostgres> => {
  const { major = 15, ...rest } = options;
  return startTestPostgres({ ...rest, binaries: findDebianPostgres(major) });
};

/** The server that TOOLPLANE_TEST_POSTGRES names (15, or any Debian major); the one from npm when it names none. */
export const startChosenPostgres = (options: TestPostgresOptions = {}): Promise<TestPostgres> => {
  const major = process.env.TOOLPLANE_TEST_POSTGRES;
  return major === undefined || major === ""
    ? startTestPostgres(options)
    : startDebianPostgres({ ...options, major: Number(major) });
};
