// What every run of the tests shares; vitest.config.ts and the configurations of special runs build on it.

import { fileURLToPath } from "node:url";
import type { ViteUserConfig } from "vitest/config";

// Programs that tests start from source take half the time when they find what earlier ones compiled. The workers, and
// whoever they hand their environment to, inherit it.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL("node_modules/.cache/node-compile", import.meta.url));

/** A run that is killed leaves nothing. */
export const KILLED_RUN = "packages/testkit/src/vitest-run.ts";
/** One PostgreSQL serves the whole run, with a database for every test file. */
export const POSTGRES = "packages/testkit/src/vitest-postgres.ts";

export const settings = {
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  // Where vitest loads the global setup: from source too, so that a fresh checkout needs no build.
  environments: { __vitest__: { resolve: { conditions: ["source"] } } },
  test: {
    globalSetup: [KILLED_RUN, POSTGRES],
    setupFiles: ["packages/testkit/src/vitest-worker.ts", "tests/property-seed.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // One more than the two cores this is measured on: tests wait for processes, leases and databases most of the time.
    maxWorkers: 3,
  },
} satisfies ViteUserConfig;
