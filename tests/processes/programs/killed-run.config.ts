// The repository's own test settings on the one file that waits to be killed.

import { defineConfig } from "vitest/config";
import { KILLED_RUN, POSTGRES, settings } from "../../../vitest.settings.ts";

export default defineConfig({
  ...settings,
  test: {
    ...settings.test,
    include: ["tests/processes/programs/killed-run-case.ts"],
    // The programs of other tests are not needed.
    globalSetup: [KILLED_RUN, POSTGRES],
  },
});
