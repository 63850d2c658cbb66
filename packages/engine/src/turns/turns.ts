// Everything that can be done with a turn, in one place. Wires; decides nothing.

import { DEFAULT_MAX_RECURSION_DEPTH } from "@toolplane/protocol/agents";
import type { CoalescerStats } from "../coalescer/coalescer.ts";
import { createAdvance } from "./advance.ts";
import { createBeginStep } from "./begin-step.ts";
import { createClaims } from "./claims.ts";
import { type CommitDeps, createCommitStep } from "./commit-step.ts";
import { createEndTurn, type EndDeps } from "./end-turn.ts";
import { createFinish } from "./finish.ts";
import { createSpawn } from "./spawn.ts";
import { createStop } from "./stop.ts";
import type { Turns } from "./turn.ts";
import { createTurnReads } from "./turn-reads.ts";
import { createTurnWatch } from "./turn-watch.ts";

export interface TurnsOptions {
  /** How long a worker may be silent before its work is offered to others. */
  readonly claimSeconds?: number | undefined;
  /** Times the work on one row may lose its worker before the turn is given up. */
  readonly maxClaims?: number | undefined;
  readonly maxDepth?: number | undefined;
}

export type TurnsDeps = Omit<CommitDeps & EndDeps, "claimSeconds" | "ended"> & {
  readonly options?: TurnsOptions | undefined;
};

// As for leases of tools: long enough for a garbage collection, short enough that people do not notice a dead worker.
export const CLAIM_SECONDS = 15;
// A turn that killed its worker this often will do so again.
export const MAX_CLAIMS = 5;

export interface TurnsService extends Turns {
  stats(): Readonly<Record<string, CoalescerStats>>;
}

export const createTurns = (given: TurnsDeps): TurnsService => {
  const { options = {} } = given;
  const watch = createTurnWatch(given);
  const deps = { ...given, claimSeconds: options.claimSeconds ?? CLAIM_SECONDS, ended: watch.ended };
  const spawn = createSpawn({ ...deps, maxDepth: options.maxDepth ?? DEFAULT_MAX_RECURSION_DEPTH });
  const advance = createAdvance({ ...deps, maxClaims: options.maxClaims ?? MAX_CLAIMS });
  const begin = createBeginStep(deps);
  const commit = createCommitStep(deps);
  const finish = createFinish(deps);
  const stop = createStop(deps, createEndTurn(deps));
  const claims = createClaims(deps);
  const reads = createTurnReads(deps.db);
  const coalescers = {
    spawn: spawn.coalescer,
    advance,
    begin: begin.coalescer,
    commit: commit.coalescer,
    finish: finish.coalescer,
    turnReads: reads.views,
  };

  return {
    spawn: (request, tx) => (tx === undefined ? spawn.submit(request) : spawn.within(tx, request)),
    advance: advance.submit,
    heartbeat: claims.heartbeat,
    release: claims.release,
    beginStep: (work, stepId) => begin.submit(work, stepId),
    commitStep: commit.submit,
    finish: finish.submit,
    stop,
    due: claims.due,
    get: reads.get,
    list: reads.list,
    steps: reads.steps,
    async wait(key, waitMs, signal) {
      await watch.wait(key, waitMs, signal);
      return reads.get(key);
    },
    stats: () => Object.fromEntries(Object.entries(coalescers).map(([name, one]) => [name, one.stats()])),
    async drain() {
      watch.close();
      await Promise.all(Object.values(coalescers).map((one) => one.idle()));
    },
  };
};
