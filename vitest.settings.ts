// What every run of the tests shares; vitest.config.ts and the configurations of special runs build on it.

import { fileURLToPath } from "node:url";
import type { ViteUserConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

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
    // Three times what a test waits for one condition: the condition that does not come is named, not the test's time.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // What is waited for by a condition comes when it comes: the second that vitest gives is short on a busy machine.
    expect: { poll: { timeout: 60_000 } },
    // One more than the two cores this is measured on: tests wait for processes, leases and databases most of the time.
    maxWorkers: 3,
  },
} satisfies ViteUserConfig;

/** Ten seconds and more on two cores, the longest first. A wrong place costs a moment at the end, nothing else. */
const LONGEST = [
  "crash/fault-points",
  "crash/failures",
  "examples/python-service",
  "scenarios/first-slice",
  "examples/tour",
  "crash/kills",
  "processes/postgres",
  "examples/shell-service",
  "up/stop",
  "turns/killed",
  "up/start",
  "build",
  "bus/postgres-bus",
  "hosts/supervisor-corpus",
  "scenarios/killed-stack",
  "crash/connection-loss",
  "examples/python-promises",
  "scenarios/killed-agents",
  "cli/calling",
  "hosts/check-clauses",
  "up/database",
  "agents/story",
  "cli/managing",
  "processes/guard",
  "conform/command",
  "up/config",
  "hosts/supervisor-limits",
  "pmo/crash",
  "processes/killed-run",
  "conform/services",
  "hosts/child-pressure",
  "conform/corpus",
  "calls/reports",
  "hosts/end-to-end-tools",
  "turns/chaos",
  "cli/agents",
  "hosts/end-to-end-kill",
  "up/launcher",
] as const;

const rankOf = ({ moduleId }: TestSpecification): number => {
  const rank = LONGEST.findIndex((name) => moduleId.endsWith(`/tests/${name}.test.ts`));
  return rank === -1 ? LONGEST.length : rank;
};

/** So that no worker is left with a long file at the end while the others have nothing to do. */
export class LongestFirst extends BaseSequencer {
  /** Vitest's own order (what failed or took long the last time, large files) among those that are not listed. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}
