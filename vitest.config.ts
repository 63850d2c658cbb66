import { defineConfig } from "vitest/config";
import { KILLED_RUN, LongestFirst, settings } from "./vitest.settings.ts";

/** Packages whose tests beside the code are functions in, values out: they share a process, and need no database. */
const PURE = "packages/{protocol,bus,sdk,bridges,agents,console,processes,testkit}/src/**/*.test.ts";

/** Tests of what a process does to its children and to its end: each file has a process of its own. */
const ALONE = ["packages/processes/src/guarded/spawn-guarded.test.ts", "tests/processes/**/*.test.ts"];

/**
 * All others make databases, directories and stacks of their own and leave nothing in their process, so they share it: to
 * start a process for a file and load the engine into it takes longer than most of these files.
 */
const SHARED = ["packages/*/{src,test}/**/*.test.ts", "tests/**/*.test.ts", "scripts/**/*.test.ts"];

export default defineConfig({
  ...settings,
  test: {
    maxWorkers: settings.test.maxWorkers,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        ...settings,
        test: {
          ...settings.test,
          name: "pure",
          include: [PURE],
          exclude: ["**/node_modules/**", ...ALONE],
          isolate: false,
          globalSetup: [KILLED_RUN],
        },
      },
      {
        ...settings,
        test: {
          ...settings.test,
          name: "shared",
          include: SHARED,
          exclude: ["**/node_modules/**", PURE, ...ALONE],
          isolate: false,
        },
      },
      { ...settings, test: { ...settings.test, name: "alone", include: ALONE } },
    ],
  },
});
