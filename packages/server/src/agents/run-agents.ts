// The worker of this process: it thinks for the agents of its pools, and takes the actions of people.

import {
  createBrainSource,
  createWorker,
  startUiActions,
  type TurnObserver,
  UI_WORKER_TARGET,
} from "@toolplane/agents";
import type { AllowedOrigin } from "@toolplane/egress/policy";
import { createIds, type Engine, type Log, systemClock } from "@toolplane/engine";
import { BUNDLED_TARGET } from "../bundled/bundled-tools.ts";
import type { EnvSource } from "../secrets/env-grants.ts";

export interface RunAgentsOptions {
  readonly engine: Engine;
  readonly log: Log;
  /** Pools in addition to the pool of user interfaces. */
  readonly workerTargets: readonly string[];
  readonly workerId: string;
  /** Values of variables, for projects that may use them. */
  readonly envSource: EnvSource;
  /** Addresses that models may be reached at, beyond public https. */
  readonly egressAllow: readonly AllowedOrigin[];
  /** Told what turns do, for measuring. */
  readonly observe?: TurnObserver | undefined;
}

export interface RunningAgents {
  stop(drainMs: number): Promise<void>;
}

/** Thinking is mostly waiting for a model. */
const CONCURRENCY = 256;

export const runAgents = async (options: RunAgentsOptions): Promise<RunningAgents> => {
  const { engine, log, envSource, egressAllow } = options;
  const ids = createIds();
  const worker = createWorker({
    engine,
    // A model's key comes only from a variable that the configuration gives to this project for this host (I8, SEC-7).
    brains: createBrainSource({
      secret: ({ name, projectId, host }) => envSource({ name, projectId, destination: { host } }),
      allowOrigins: egressAllow,
      clock: systemClock,
    }),
    workerTargets: [...new Set([...options.workerTargets, UI_WORKER_TARGET])],
    workerId: options.workerId,
    concurrency: CONCURRENCY,
    bundledTargets: new Set([BUNDLED_TARGET]),
    observe: options.observe,
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
