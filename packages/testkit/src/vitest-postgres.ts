// Vitest global setup: one PostgreSQL for the whole run, and a directory for what the run makes once and copies, given to
// the workers under `toolplanePostgres`.
// TOOLPLANE_TEST_POSTGRES=15 (any Debian major) runs the same tests on that server instead of the npm one.

import type { TestProject } from "vitest/node";
import { describeLogin, startChosenPostgres, type TestPostgres } from "./postgres.ts";
import { makeTestDirectory, type TestDirectory } from "./test-directory.ts";

interface Shared {
  readonly server: TestPostgres;
  readonly templates: TestDirectory;
}

// Each project of a run loads this file for itself; the server is one for all of them, and goes with the last.
const SHARED = Symbol.for("toolplane: the PostgreSQL of this test run");
const run = globalThis as { [SHARED]?: { readonly started: Promise<Shared>; users: number } | undefined };

const start = async (): Promise<Shared> => ({
  // Several workers, each with a pool or two per database.
  server: await startChosenPostgres({ maxConnections: 200 }),
  templates: await makeTestDirectory(),
});

export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  run[SHARED] ??= { started: start(), users: 0 };
  const shared = run[SHARED];
  shared.users++;
  const { server, templates } = await shared.started;
  project.provide("toolplanePostgres", { ...describeLogin(server), templates: templates.path });
  return async () => {
    if (--shared.users > 0) return;
    run[SHARED] = undefined;
    await server.stop();
    await templates.remove();
  };
};
