import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  // Where vitest loads the global setup: from source too, so that a fresh checkout needs no build.
  environments: { __vitest__: { resolve: { conditions: ["source"] } } },
  test: {
    include: [
      "packages/*/src/**/*.test.ts",
      "packages/*/test/**/*.test.ts",
      "tests/**/*.test.ts",
      "scripts/**/*.test.ts",
    ],
    // A run that is killed leaves nothing; one PostgreSQL serves the whole run, with a database for every test file.
    globalSetup: ["packages/testkit/src/vitest-run.ts", "packages/testkit/src/vitest-postgres.ts"],
    setupFiles: ["packages/testkit/src/vitest-worker.ts", "tests/property-seed.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
