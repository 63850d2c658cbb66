// `npm run test:long`: runs that take minutes. One at a time, so that each has the machine to itself.

import { defineConfig } from "vitest/config";
import base from "./vitest.config.ts";

export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: ["tests/long/**/*.long.ts"],
    testTimeout: 1_800_000,
    maxWorkers: 1,
  },
});
