// What every run of the tests shares; vitest.config.ts and the configurations of special runs build on it.

import { fileURLToPath } from "node:url";
import type { ViteUserConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// Programs that tests start from source take half the time when they find what earlier ones compiled. The workers, and
// the programs that they start, inherit it.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL("node_modules/.cache/node-compile", import.meta.url));

/** A run that is killed leaves nothing. */
export const KILLED_RUN = "packages/testkit/src/vitest-run.ts";
/** One PostgreSQL serves the whole run, with a database for every test file. */
export const POSTGRES = "packages/testkit/src/vitest-postgres.ts";

/** The programs that tests start are compiled once. */
export const PROGRAMS = "tests/compile-programs.ts";

export const settings = {
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  // Where vitest loads the global setup: from source too, so that a fresh checkout needs no build.
  environments: { __vitest__: { resolve: { conditions: ["source"] } } },
  test: {
    globalSetup: [KILLED_RUN, POSTGRES, PROGRAMS],
    setupFiles: ["packages/testkit/src/vitest-worker.ts", "tests/property-seed.ts"],
    // Three times what a test waits for one condition: the condition that does not come is named, not the test's time.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // What is waited for by a condition comes when it comes: the second that vitest gives is short on a busy machine.
    expect: { poll: { timeout: 60_000 } },
    // More than twice the two cores this is measured on: tests wait for processes, leases and databases more than half of the time,
    // and those that wait longest begin first, together.
    maxWorkers: 5,
    // These publish TypeScript under the condition that our packages use; vitest compiles it, Node would refuse it.
    server: { deps: { inline: [/node_modules\/(?:@modelcontextprotocol|eventsource)/] } },
  },
} satisfies ViteUserConfig;

/** Twelve seconds and more on two busy cores; first those that wait for leases. A wrong place costs a moment at the end. */
const LONGEST = [
  "processes/postgres",
  "processes/guard",
  "crash/fault-points",
  "examples/tour",
  "crash/failures",
  "browser/console",
  "examples/python-service",
  "crash/kills",
  "up/nats-start",
  "up/start",
  "up/stop",
  "up/database",
  "up/launcher",
  "hosts/end-to-end-kill",
  "up/roles",
  "hosts/supervisor-corpus",
  "up/config",
  "up/move",
  "hosts/supervisor-crash",
  "examples/python-promises",
  "up/two-logins",
  "hosts/check-hosts",
  "cli/calling",
  "conform/nats-services",
  "hosts/own-user",
  "build",
  "http/registry-api",
  "up/nats-planes",
  "hosts/supervisor-limits",
  "cli/agents",
  "hosts/check-clauses",
  "cli/managing",
  "hosts/child-pressure",
  "scenarios/nats-chaos",
  "agents/story",
  "calls/bad-input",
  "examples/shell-service",
  "conform/command",
  "turns/killed",
  "hosts/child-behaviour",
  "conform/services",
  "turns/chaos",
  "agents/worker-suspended",
  "pmo/crash",
  "hosts/supervisor-calls",
  "hosts/supervisor-launch",
] as const;

/**
 * A worker goes on with the next file only if it is of the same project, else a new one starts and loads everything again. So the
 * projects follow each other, and the shortest files come last.
 */
const PROJECTS: readonly string[] = ["alone", "shared", "pure"];

const placeOf = ({ moduleId, project }: TestSpecification): readonly [project: number, rank: number] => {
  const rank = LONGEST.findIndex((name) => moduleId.endsWith(`/tests/${name}.test.ts`));
  return [PROJECTS.indexOf(project.name), rank === -1 ? LONGEST.length : rank];
};

/** So that no worker is left with a long file at the end while the others have nothing to do. */
export class LongestFirst extends BaseSequencer {
  /** Vitest's own order (what failed or took long the last time, large files) among those that are not listed. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => {
      const [[projectA, rankA], [projectB, rankB]] = [placeOf(a), placeOf(b)];
      return projectA - projectB || rankA - rankB;
    });
  }
}
