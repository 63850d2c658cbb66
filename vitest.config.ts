import { defineConfig } from "vitest/config";
import { KILLED_RUN, LongestFirst, settings } from "./vitest.settings.ts";

/** Packages whose tests beside the code are functions in, values out: they share a process, and need no database. */
const PURE = "packages/{protocol,bus,sdk,bridges,agents}/src/**/*.test.ts";

/**
 * Tests of the engine and what stands on it. Each makes a database of its own and leaves nothing in its process, so they
 * share one too: to start a process for a file and load the engine into it takes longer than most of these files.
 */
const SHARED = [
  "packages/{engine,server}/src/**/*.test.ts",
  "packages/server/test/**/*.test.ts",
  "tests/{calls,turns,pmo,http,registry}/**/*.test.ts",
];

export default defineConfig({
  ...settings,
  test: {
    maxWorkers: settings.test.maxWorkers,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        ...settings,
        test: { ...settings.test, name: "pure", include: [PURE], isolate: false, globalSetup: [KILLED_RUN] },
      },
      {
        ...settings,
        test: { ...settings.test, name: "shared", include: SHARED, isolate: false },
      },
      {
        ...settings,
        test: {
          ...settings.test,
          name: "whole",
          include: [
            "packages/*/src/**/*.test.ts",
            "packages/*/test/**/*.test.ts",
            "tests/**/*.test.ts",
            "scripts/**/*.test.ts",
          ],
          exclude: ["**/node_modules/**", PURE, ...SHARED],
        },
      },
    ],
  },
});
