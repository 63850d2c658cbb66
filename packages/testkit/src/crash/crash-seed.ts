// The world of a crash run: two projects, tools with short deadlines, agents that wait for a turn.

import { createEngine } from "@toolplane/engine";
import { migrate } from "@toolplane/engine/internal";
import { type ToolSeed, toolUpload } from "../engine/test-engine.ts";
import { withTestClient } from "../postgres-client.ts";
import type { DatabaseTemplate } from "../postgres-database.ts";
import { SEED_AGENTS } from "./crash-seed.sql.ts";

export const CRASH_PROJECT = "crash";
/** Its settled calls are forgotten during the run. */
export const ATTIC_PROJECT = "attic";
/** The target every serving process works for. */
export const SERVED_TARGET = "bench";
/** A target without a service. */
const UNSERVED_TARGET = "nobody";
export const WORKER_TARGET = "crew";

/** As many steps as the longest run takes. */
const AGENTS = 1_000;
// Longer than every wait except that for a lease, so that it ends no call that another deadline should end.
const RUN_SECONDS = 60;
const SHORT_SECONDS = 0.4;

const TOOLS: readonly ToolSeed[] = [
  { name: "safe", target: SERVED_TARGET, options: { retry: "safe", timeout_seconds: RUN_SECONDS } },
  { name: "unsafe", target: SERVED_TARGET, options: { retry: "never", timeout_seconds: RUN_SECONDS } },
  // Long enough that a cancellation comes first, short enough to end a call that is not canceled.
  { name: "cancelable", target: SERVED_TARGET, options: { retry: "never", timeout_seconds: 3 } },
  { name: "hasty", target: SERVED_TARGET, options: { retry: "never", timeout_seconds: SHORT_SECONDS } },
  { name: "silent", target: UNSERVED_TARGET, options: { queue_timeout_seconds: SHORT_SECONDS } },
  {
    name: "gated",
    target: SERVED_TARGET,
    options: { approval: { policy: "required", timeout_seconds: SHORT_SECONDS } },
  },
  {
    name: "asked",
    target: SERVED_TARGET,
    options: { retry: "safe", approval: "required", timeout_seconds: RUN_SECONDS },
  },
];

const seedCrashWorld = async (url: string): Promise<void> => {
  const engine = await createEngine({ connection: { connectionString: url }, watchdog: false });
  try {
    for (const project_id of [CRASH_PROJECT, ATTIC_PROJECT]) {
      await engine.projects.createProject({ project_id, title: "Crash run", bootstrap: false }, "sys.test");
      for (const seed of TOOLS) await engine.tools.upsertTool(project_id, toolUpload(seed));
    }
  } finally {
    await engine.close();
  }
  await withTestClient(url, (client) => client.query(SEED_AGENTS, [CRASH_PROJECT, AGENTS, WORKER_TARGET]));
};

export const CRASH_TEMPLATE: DatabaseTemplate = {
  name: "crash",
  migrate: async (url) => {
    await migrate({ connectionString: url });
    await seedCrashWorld(url);
  },
};
