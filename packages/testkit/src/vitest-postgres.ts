// Vitest global setup: one PostgreSQL for the whole run, and a directory for what the run makes once and copies, given to
// the workers under `toolplanePostgres`.
// TOOLPLANE_TEST_POSTGRES=15 (any Debian major) runs the same tests on that server instead of the npm one.

import type { TestProject } from "vitest/node";
import { describeLogin, makeTestDirectory, startChosenPostgres } from "./postgres.ts";

export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  // Several workers, each with a pool or two per database.
  const server = await startChosenPostgres({ maxConnections: 200 });
  const templates = await makeTestDirectory();
  project.provide("toolplanePostgres", { ...describeLogin(server), templates: templates.path });
  return async () => {
    await server.stop();
    await templates.remove();
  };
};
