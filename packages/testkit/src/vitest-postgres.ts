// Vitest global setup: one PostgreSQL for the whole run, given to the workers under `toolplanePostgres`.
// TOOLPLANE_TEST_POSTGRES=15 (any Debian major) runs the same tests on that server instead of the npm one.

import type { TestProject } from "vitest/node";
import { describeLogin, startChosenPostgres } from "./postgres.ts";

export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  // Several workers, each with a pool or two per database.
  const server = await startChosenPostgres({ maxConnections: 200 });
  project.provide("toolplanePostgres", describeLogin(server));
  return () => server.stop();
};
