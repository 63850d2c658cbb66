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
    // One PostgreSQL for the whole run; every test file gets a database of its own on it.
    globalSetup: ["packages/testkit/src/vitest-postgres.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
