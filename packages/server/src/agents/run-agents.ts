// The worker of this process: it thinks for the agents of its pools, and hears the actions of people.

import { createBrainSource, createWorker, startUiActions, UI_WORKER_TARGET } from "@toolplane/agents";
import { createIds, type Engine, type Log, systemClock } from "@toolplane/engine";
import { BUNDLED_TARGET } from "../bundled/bundled-tools.ts";

export interface RunAgentsOptions {
  readonly engine: Engine;
  readonly log: Log;
  /** Pools beside the one of user interfaces. */
  readonly workerTargets: readonly string[];
  readonly workerId: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly allowEnv: ReadonlySet<string>;
}

export interface RunningAgents {
  stop(drainMs: number): Promise<void>;
}

/** Thinking is mostly waiting for a model. */
const CONCURRENCY = 64;

export const runAgents = async (options: RunAgentsOptions): Promise<RunningAgents> => {
  const { engine, log, env, allowEnv } = options;
  const ids = createIds();
  const worker = createWorker({
    engine,
    // A model's key is read like a tool's: only from a variable the configuration allows (I8).
    brains: createBrainSource({ secret: (name) => (allowEnv.has(name) ? env[name] : undefined), clock: systemClock }),
    workerTargets: [...new Set([...options.workerTargets, UI_WORKER_TARGET])],
    workerId: options.workerId,
    concurrency: CONCURRENCY,
    bundledTargets: new Set([BUNDLED_TARGET]),
    ids,
    log,
  });
  await worker.start();
  const actions = await startUiActions({ engine, ids, clock: systemClock, log });
  return {
    async stop(drainMs) {
      await actions.stop({ drainMs });
      await worker.stop({ drainMs });
    },
  };
};
