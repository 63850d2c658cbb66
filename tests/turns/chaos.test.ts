// Many agents, several engines, workers that vanish and claims that are torn away: every turn ends once, as it should.

import { type FaultPoint, type Faults, TURN_FAULT_POINTS } from "@toolplane/engine/internal";
import { isToolplaneError, ToolplaneError } from "@toolplane/protocol";
import { createChance, meddle } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { auditTurns, driveTurns, SCRIPTS, soundAudit } from "./drive.ts";
import { addAgent, asking, startTurnWorld, type TurnWorld } from "./turn-world.ts";

const QUICK = { claimSeconds: 0.5, maxClaims: 1_000 };

const spawnScripts = async (t: TurnWorld, agents: number, turnsEach: number, round = 0): Promise<number> => {
  for (let i = 0; round === 0 && i < agents; i++) await addAgent(t, `agent_${i}`);
  const spawn = async (i: number): Promise<void> => {
    const metadata = { script: SCRIPTS[i % SCRIPTS.length] ?? "deliver" };
    const request = asking(t, { agentId: `agent_${i % agents}`, correlationId: `c${round}_${i}`, metadata });
    for (;;) {
      try {
        await t.engine.turns.spawn(request);
        return;
      } catch (error) {
        // Whoever was not told asks again, under the same correlation.
        if (!isToolplaneError(error) || error.code !== "storage_error") throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: agents * turnsEach }, (_, i) => spawn(i)));
  return agents * turnsEach;
};

test("[INV-I10-T1] [INV-I5-T1] two engines, 100 agents, claims torn away at random: every turn ends once", {
  timeout: 120_000,
}, async () => {
  await using t = await startTurnWorld({ turns: QUICK });
  const other = await t.another();
  const turns = await spawnScripts(t, 100, 1);
  const chance = createChance(20_261_115);
  const { url } = t.database;
  const mishap = async (): Promise<void> => {
    if (chance.between(0, 3) !== 0) return;
    await meddle(url, "lapseSomeClaims");
  };
  await Promise.all([
    driveTurns(t.engine, { projectId: t.projectId, url, name: "one", mishap }),
    driveTurns(other, { projectId: t.projectId, url, name: "two" }),
  ]);
  expect(await auditTurns(url)).toEqual(soundAudit(turns));
});

test("[INV-I10-T1] [UTP-7.1-2] the database fails around every commit, again and again: every turn ends once", {
  timeout: 120_000,
}, async () => {
  const hits = new Map<FaultPoint, number>();
  const points: ReadonlySet<FaultPoint> = new Set(TURN_FAULT_POINTS);
  const faults: Faults = {
    at(point) {
      const hit = (hits.get(point) ?? 0) + 1;
      hits.set(point, hit);
      if (points.has(point) && hit % 3 === 1) throw new ToolplaneError("storage_error", `fault at ${point}`);
    },
  };
  await using t = await startTurnWorld({ turns: QUICK, faults });
  const untried = (): readonly FaultPoint[] => TURN_FAULT_POINTS.filter((point) => (hits.get(point) ?? 0) < 2);
  let turns = 0;
  // Which turns are given up is a matter of timing: more of them until each point has failed and has been passed.
  for (let round = 0; round < 10 && (round === 0 || untried().length > 0); round++) {
    turns += await spawnScripts(t, 6, 2, round);
    await driveTurns(t.engine, { projectId: t.projectId, url: t.database.url, name: "one" });
  }
  expect(await auditTurns(t.database.url)).toEqual(soundAudit(turns));
  expect(untried()).toEqual([]);
});
