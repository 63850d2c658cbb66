// One life of one process that works on turns. Its argument says where the database is and at which point it shall die.

import { createEngine } from "@toolplane/engine";
import type { FaultPoint } from "@toolplane/engine/internal";
import { createPlannedFaults, meddle } from "@toolplane/testkit";
import { driveTurns } from "../drive.ts";

interface LifeConfig {
  readonly url: string;
  readonly projectId: string;
  readonly point: FaultPoint;
  readonly spawns: readonly Record<string, unknown>[];
}

const config = JSON.parse(process.argv[2] ?? "{}") as LifeConfig;
const faults = createPlannedFaults([{ point: config.point, hit: 1, act: "kill" }], {
  dying: () => {},
  stalling: () => {},
});
const engine = await createEngine({
  connection: { connectionString: config.url },
  watchdog: false,
  faults,
  turns: { claimSeconds: 0.5, maxClaims: 1_000 },
});
for (const request of config.spawns) await engine.turns.spawn(request as never);
if (config.point.startsWith("reap:")) {
  // A worker that fell silent before anybody else looked.
  await engine.turns.advance({ projectId: config.projectId, agentId: "agent_0", workerId: "victim", takeWork: true });
  await meddle(config.url, "lapseClaims");
  await engine.tendTurns.lapsed(1);
}
await driveTurns(engine, { projectId: config.projectId, url: config.url, name: "victim" });
await engine.close();
