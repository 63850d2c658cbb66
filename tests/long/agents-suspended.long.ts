// Ten thousand agents suspended at once in one worker process under 400 MB, and all of them resumed.

import { expect, test } from "vitest";
import { openAgentPlane } from "../agents/support/agent-plane.ts";
import { resumeCrowd } from "../agents/support/suspended-crowd.ts";

const AGENTS = 10_000;
const MOST_MB = 400;
const PATIENCE_MS = 900_000;

test("[UTP-10.1-7] 10,000 agents suspended at once in one worker process, all resumed", async () => {
  await using plane = await openAgentPlane({ profile: { allowed_tools: ["wait"] } });
  const report = await resumeCrowd(plane, AGENTS, PATIENCE_MS);
  const { suspendSeconds, resumeSeconds, suspendedMb, peakMb } = report;
  process.stdout.write(
    `${AGENTS} agents: suspended in ${suspendSeconds.toFixed(1)} s, resumed and ended in ${resumeSeconds.toFixed(1)} s; ` +
      `the worker's process had ${suspendedMb.toFixed(0)} MB while all were suspended, ${peakMb.toFixed(0)} MB at its worst\n`,
  );
  expect(peakMb).toBeLessThan(MOST_MB);
});
