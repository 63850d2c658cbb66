// `npm run test:long`: runs that take minutes. One at a time, so that each has the machine to itself.

import { defineConfig } from "vitest/config";
import { settings } from "./vitest.settings.ts";

export default defineConfig({
  ...settings,
  test: {
    ...settings.test,
    include: ["tests/long/**/*.long.ts"],
    testTimeout: 1_800_000,
    maxWorkers: 1,
  },
});
