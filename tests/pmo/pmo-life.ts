// One life of a process that manages and works: the project manager behind the runner, its ears, the watchdogs, and a
// hand that does every agent's work by what its instruction says. Started again on the same database it goes on.
//
//   "hang"       asks for a tool that nobody serves
//   "fail last"  fails when every other child but the hanging one has ended
//   otherwise    delivers "<instruction>: done"

import { createPmo, PMO_SERVICE } from "@toolplane/agents";
import { type AgentKey, createEngine, type Engine, stepIdOf, type Work } from "@toolplane/engine";
import { type Faults, noFaults } from "@toolplane/engine/internal";
import { createRunner, silentLog, startToolService, systemClock } from "@toolplane/sdk";
import { createEngineGateway } from "@toolplane/server/internal";
import { PROJECT } from "./pmo-world.ts";

export interface PmoLife extends AsyncDisposable {
  readonly engine: Engine;
}

// A dead process is noticed this late; a healthy one that is slower is replaced too, which must not matter.
const LEASE_SECONDS = 1;
const POOLS = ["office", "floor"];
const LOOK_AGAIN_MS = 20;

/** What the boss forks, beside one task that it delegates. */
export const INSTRUCTIONS = ["part 0", "part 1", "hang", "part 3", "fail last"];
const CHILDREN = INSTRUCTIONS.length + 1;

const instructionOf = async ({ boxes }: Engine, work: Work): Promise<string> => {
  const cards = (await boxes.loadBoxCards(PROJECT, work.contextBoxId)) ?? [];
  const card = cards.findLast(({ type }) => type === "task.instruction");
  return card?.content.__type__ === "TextContent" ? card.content.text : "";
};

const othersEnded = async ({ turns }: Engine, work: Work): Promise<boolean> => {
  const { items } = await turns.list(PROJECT, { parentAgentTurnId: work.parentAgentTurnId });
  // A task whose first try came to nothing is given out later than its siblings.
  if (items.length < CHILDREN) return false;
  const open = items.filter(({ endedAt, agentTurnId }) => endedAt === null && agentTurnId !== work.agentTurnId);
  return open.every(({ status }) => status === "suspended");
};

const doWork = async (engine: Engine, work: Work): Promise<void> => {
  const { turns } = engine;
  const instruction = await instructionOf(engine, work);
  if (instruction === "hang") {
    const stepId = stepIdOf(work.agentTurnId, work.stepCount + 1);
    await turns.beginStep(work, stepId);
    await turns.commitStep(work, { stepId, entries: [{ call: { toolName: "slow", arguments: {} } }] });
  } else if (instruction === "fail last") {
    if (await othersEnded(engine, work)) await turns.finish(work, { status: "failed", error: "it broke" });
    else await turns.release(work);
  } else {
    await turns.finish(work, { status: "success", deliverable: `${instruction}: done` });
  }
};

export const startPmoLife = async (databaseUrl: string, faults: Faults = noFaults): Promise<PmoLife> => {
  const engine = await createEngine({
    connection: { connectionString: databaseUrl },
    leaseSeconds: LEASE_SECONDS,
    turns: { claimSeconds: LEASE_SECONDS, maxClaims: 1_000 },
    maxAttempts: 50,
    faults,
  });
  const stopping = new AbortController();
  const gateway = createEngineGateway({
    engine,
    projectId: PROJECT,
    actorId: PMO_SERVICE.actor,
    holder: `manager:${process.pid}`,
    clock: systemClock,
    random: Math.random,
  });
  const pmo = createPmo({ engine });
  const runner = createRunner({ gateway, executor: pmo.executor, ...PMO_SERVICE, log: silentLog });
  const service = startToolService({
    gateway,
    runner,
    target: PMO_SERVICE.target,
    concurrency: 4,
    clock: systemClock,
    random: Math.random,
    log: silentLog,
    waitMs: 500,
  });
  const listening = await pmo.listen();

  const workFor = async (key: AgentKey): Promise<void> => {
    try {
      const { work } = await engine.turns.advance({ ...key, workerId: "hand", takeWork: true });
      if (work !== undefined) await doWork(engine, work);
    } catch {
      // Stopped or taken over while it was at work: somebody else knows what comes next.
    }
  };

  const hand = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const due = await engine.turns.due(POOLS, 50).catch(() => []);
      for (const key of due) await workFor(key);
      await systemClock.sleep(LOOK_AGAIN_MS, stopping.signal);
    }
  };
  const working = hand();
  return {
    engine,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await working;
      await listening.stop();
      await service.stop({ drainMs: 1_000 });
      await engine.close();
    },
  };
};
