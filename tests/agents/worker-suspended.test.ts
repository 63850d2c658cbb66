// Suspended agents are rows: a worker keeps nothing of them. The same with ten thousand is in tests/long.

import { expect, test } from "vitest";
import { openAgentPlane } from "./support/agent-plane.ts";
import { resumeCrowd } from "./support/suspended-crowd.ts";

const AGENTS = 500;
/** As for ten thousand: a process that starts takes a third of it. */
const MOST_MB = 400;

test("[UTP-10.1-7] 500 agents suspended at once in one worker process, all resumed", async () => {
  await using plane = await openAgentPlane({ profile: { allowed_tools: ["wait"] } });
  const report = await resumeCrowd(plane, AGENTS, 50_000);
  expect(report.peakMb).toBeLessThan(MOST_MB);
});
