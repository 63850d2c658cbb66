// Everything that can be done with a turn, in one place. Wires; decides nothing.

import { parseCard } from "@toolplane/protocol";
import { DEFAULT_MAX_RECURSION_DEPTH } from "@toolplane/protocol/agents";
import { createGiveBack } from "../waiting/give-back.ts";
import { createAdvance } from "./advance.ts";
import { createBeginStep } from "./begin-step.ts";
import { type CommitDeps, createCommitStep } from "./commit-step.ts";
import { createDispatchNext } from "./dispatch-next.ts";
import { createEndTurn, type EndDeps } from "./end-turn.ts";
import { createFinish } from "./finish.ts";
import { createKnownAgents } from "./known-agents.ts";
import { createKnownWork } from "./known-work.ts";
import { createReap } from "./reap.ts";
import { createSpawn } from "./spawn.ts";
import { createStop } from "./stop.ts";
import { createTendTurns, type TendTurns } from "./tend-turns.ts";
import { readGuards } from "./terminal-guard.ts";
import type { EndedKey, Turns } from "./turn.ts";
import { readLongCards, readTurnBoxes } from "./turn-boxes.ts";
import { createTurnReads } from "./turn-reads.ts";
import type { HeadRow } from "./turn-row.ts";
import { createTurnWatch } from "./turn-watch.ts";
import { AWAIT_HEADS, bindAgents } from "./turns.sql.ts";
import { createWorkClaims } from "./work-claims.ts";

export interface TurnsOptions {
  /** How long a worker may be silent before its work is offered to others; as long as a service unless given. */
  readonly claimSeconds?: number | undefined;
  /** How often the work on one row may lose its worker before the turn is given up. */
  readonly maxClaims?: number | undefined;
  readonly maxDepth?: number | undefined;
  /**
   * How long a turn at the front of the queue may wait for a worker of its pool; null: for ever. When the time is over it is
   * rung one last time, so that a worker that was away finds it.
   */
  readonly dispatchTimeoutSeconds?: number | null | undefined;
}

export type TurnsDeps = Omit<CommitDeps & EndDeps, "claimSeconds" | "ended" | "known"> & {
  readonly options?: TurnsOptions | undefined;
  readonly leaseSeconds: number;
  /** Called for every turn that ended here, after the callers that wait for it. */
  readonly follow?: ((turn: EndedKey) => void) | undefined;
};

// A turn that killed its worker this often will do so again.
const MAX_CLAIMS = 5;
// As for calls that no service starts: a day.
const DISPATCH_TIMEOUT_SECONDS = 86_400;

export interface TurnsService extends Turns {
  readonly tend: TendTurns;
}

export const createTurns = (given: TurnsDeps): TurnsService => {
  const { options = {} } = given;
  const watch = createTurnWatch(given);
  const ended = (turn: EndedKey): void => {
    watch.ended(turn);
    given.follow?.(turn);
  };
  const known = createKnownWork(given.clock);
  const agents = createKnownAgents(given.clock);
  const deps = { ...given, claimSeconds: options.claimSeconds ?? given.leaseSeconds, ended, known, agents };
  const claims = createWorkClaims(deps);
  const unheard = createGiveBack({ clock: deps.clock, forSeconds: deps.claimSeconds, ask: claims.release });
  const { giveBack } = unheard;
  const spawn = createSpawn({ ...deps, giveBack, maxDepth: options.maxDepth ?? DEFAULT_MAX_RECURSION_DEPTH });
  const advance = createAdvance({ ...deps, maxClaims: options.maxClaims ?? MAX_CLAIMS });
  const begin = createBeginStep(deps);
  const commit = createCommitStep(deps);
  const finish = createFinish(deps);
  const endTurn = createEndTurn(deps);
  const stop = createStop(deps, endTurn);
  const tend = createTendTurns({
    ...deps,
    policy: {
      maxClaims: options.maxClaims ?? MAX_CLAIMS,
      dispatchTimeoutSeconds:
        options.dispatchTimeoutSeconds === undefined ? DISPATCH_TIMEOUT_SECONDS : options.dispatchTimeoutSeconds,
    },
    reap: createReap(deps, endTurn),
    advance: (agent) => advance.submit({ ...agent, workerId: "watchdog", takeWork: false }),
    dispatchNext: createDispatchNext(deps),
  });
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
    spawn: async (request, tx) =>
      tx === undefined ? spawn.coalescer.submit(spawn.prepare(request)) : spawn.within(tx, request),
    async ask(request, { waitMs, signal, repeated }) {
      const item = spawn.prepare(request);
      const { projectId } = request;
      // Before the turn exists, so that its end cannot be missed.
      const expectation = watch.expect({ projectId, agentTurnId: item.agentTurnId });
      try {
        const spawned = await spawn.coalescer.submit(item);
        const key = { projectId, agentTurnId: spawned.agentTurnId };
        if (spawned.idempotent) {
          await repeated?.(key);
          await watch.wait(key, waitMs, signal);
        } else await expectation.wait(waitMs, signal);
        const news = expectation.news();
        const deliverable = news?.deliverable === undefined ? undefined : parseCard(JSON.parse(news.deliverable));
        return { spawned, turn: news?.turn ?? (await reads.get(key)), deliverable };
      } finally {
        expectation.leave();
      }
    },
    advance: advance.submit,
    heartbeat: claims.heartbeat,
    async release(work) {
      await claims.release(work);
    },
    beginStep: (work, stepId) => begin.submit(work, stepId),
    readBoxes: (asks) => readTurnBoxes(deps.db, asks),
    readLong: (projectId, long, reading) => readLongCards(deps.db, projectId, long, reading),
    commitStep: commit.submit,
    finish: finish.submit,
    async settleInbox(work) {
      const { projectId, agentId } = work;
      await advance.submit({ projectId, agentId, workerId: "terminal guard", takeWork: false });
      const open = await deps.db.transaction(async (tx) => {
        const [head] = await tx.query<HeadRow>(AWAIT_HEADS, bindAgents([{ projectId, agentId }]));
        const [guard] = head === undefined ? [] : await readGuards(tx, [{ head, key: work }]);
        return guard?.open ?? 0;
      });
      return open === 0;
    },
    stop,
    tend,
    due: claims.due,
    ring(agents, what) {
      deps.bells.ring(agents);
      if (what === "stopped") deps.bells.ended(agents);
      deps.doorbell.ring("messages");
    },
    get: reads.get,
    list: reads.list,
    steps: reads.steps,
    async wait(key, waitMs, signal) {
      await watch.wait(key, waitMs, signal);
      return reads.get(key);
    },
    async drain() {
      watch.close();
      await Promise.all(Object.values(coalescers).map((one) => one.idle()));
      await unheard.stop();
    },
  };
};
