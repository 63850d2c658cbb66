// Vitest sequencer: the longest files first, so that no worker is left with one of them at the end while the others have
// nothing to do. The short ones, and the ones that only calculate, fill the gaps.

import { BaseSequencer, type TestSpecification } from "vitest/node";

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

export class LongestFirst extends BaseSequencer {
  /** Vitest's own order (what failed or took long the last time, large files) among those that are not listed. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}
