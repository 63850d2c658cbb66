// Vitest global setup: one PostgreSQL for the whole run, given to the workers under `toolplanePostgres`.
// TOOLPLANE_TEST_POSTGRES=15 (any Debian major) runs the same tests on that server instead of the npm one.

import type { TestProject } from "vitest/node";
import { startDebianPostgres, startTestPostgres } from "./postgres.ts";

export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const major = process.env.TOOLPLANE_TEST_POSTGRES;
  // Several workers, each with a pool or two per database.
  const options = { maxConnections: 200 };
  const server =
    major === undefined || major === ""
      ? await startTestPostgres(options)
      : await startDebianPostgres({ ...options, major: Number(major) });
  project.provide("toolplanePostgres", { socketDir: server.socketDir, port: server.port, version: server.version });
  return () => server.stop();
};
