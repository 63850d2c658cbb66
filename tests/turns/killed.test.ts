// A process that works on turns dies by SIGKILL at each named point; another comes, and every turn ends once.

import { type FaultPoint, TURN_FAULT_POINTS } from "@toolplane/engine/internal";
import { spawnGuarded } from "@toolplane/processes";
import { programArgv, programEnv } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runLimited } from "../crash/limited.ts";
import { type Audit, auditTurns, driveTurns, SCRIPTS, soundAudit } from "./drive.ts";
import { addAgent, asking, startTurnWorld } from "./turn-world.ts";

const PROGRAM = new URL("./programs/turn-life.ts", import.meta.url);

interface Death {
  readonly signal: string | null;
  readonly audit: Audit;
}

const dieAt = async (point: FaultPoint, hangs: AbortSignal): Promise<Death> => {
  await using t = await startTurnWorld({ turns: { claimSeconds: 0.5, maxClaims: 1_000 } });
  const { url } = t.database;
  const spawns = await Promise.all(
    SCRIPTS.map(async (script, i) => {
      await addAgent(t, `agent_${i}`);
      return asking(t, { agentId: `agent_${i}`, correlationId: script, metadata: { script } });
    }),
  );
  const config = { url, projectId: t.projectId, point, spawns };
  const victim = await spawnGuarded([...programArgv(PROGRAM), JSON.stringify(config)], {
    label: `turns at ${point}`,
    env: programEnv(),
    stdio: ["ignore", "ignore", "inherit"],
  });
  hangs.addEventListener("abort", () => void victim.end({ signal: "SIGKILL" }));
  const { signal } = await victim.exited;
  await Promise.all(spawns.map((request) => t.engine.turns.spawn(request)));
  await driveTurns(t.engine, { projectId: t.projectId, url, name: "heir" });
  return { signal, audit: await auditTurns(url) };
};

// Most of a run is the start of a process.
const AT_ONCE = 2;

describe("a worker that dies", () => {
  let deaths: ReadonlyMap<FaultPoint, Promise<Death>>;

  beforeAll(() => {
    deaths = runLimited(TURN_FAULT_POINTS, { atOnce: AT_ONCE }, dieAt);
  });

  // Whatever a filter leaves out is still under way when its tests are over.
  afterAll(async () => {
    await Promise.allSettled(deaths.values());
  });

  test.each(TURN_FAULT_POINTS)(
    "[INV-I10-T1] [UTP-W08-T1] [UTP-W09-T1] at %s: every turn ends once, with one deliverable and one task event",
    { timeout: 180_000 },
    async (point) => {
      const death = await deaths.get(point);
      expect(death?.signal).toBe("SIGKILL");
      expect(death?.audit).toEqual(soundAudit(SCRIPTS.length));
    },
  );
});
