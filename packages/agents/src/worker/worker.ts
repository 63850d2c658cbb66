// The agent worker: takes rings, runs turns. All important state is in rows; this process may die at any moment, and another one
// continues from the last committed step.
//   I13. A lost ring costs time: the worker looks for due work at its start, from time to time, and when there is room and the
//        last look found more than it could take.
//   One worker serves any number of pools; any number of workers serve one pool.

import {
  type AgentKey,
  type Clock,
  createIds,
  type Ids,
  inTime,
  type Log,
  type PoolServer,
  type ServingAgents,
  silentLog,
  stepIdOf,
  systemClock,
  type Work,
} from "@toolplane/engine";
import { UsageError } from "@toolplane/protocol";
import type { BrainSource } from "../brains/brain.ts";
import { planBudget } from "./budget.ts";
import { errorTrace } from "./error-trace.ts";
import { createHoldings } from "./holdings.ts";
import { createIntake, type IntakeStats } from "./intake.ts";
import { DEFAULT_LIMITS, type TurnLimits } from "./limits.ts";
import { planTurnLimit } from "./plan-question.ts";
import { createPromptSource } from "./prompt-source.ts";
import { createRunTurn, type TurnOutcome } from "./run-turn.ts";
import { createStepReader } from "./step-reader.ts";
import { resolveTiming, type TimingSwitches } from "./timing.ts";
import { harmless, nobodyWatchesTurns, type TurnObserver } from "./turn-observer.ts";
import type { WorkerEngine } from "./worker-engine.ts";

export interface WorkerOptions {
  readonly engine: WorkerEngine;
  readonly brains: BrainSource;
  readonly workerTargets?: readonly string[] | undefined;
  /** Shown to people beside a claim. */
  readonly workerId?: string | undefined;
  /** Turns that think at the same time. */
  readonly concurrency?: number | undefined;
  readonly limits?: Partial<TurnLimits> | undefined;
  readonly timing?: TimingSwitches | undefined;
  readonly heartbeatMs?: number | undefined;
  /** How often to look for work that no ring announced. */
  readonly lookMs?: number | undefined;
  /** Targets that this installation serves with its own code: their results are not fenced as foreign. */
  readonly bundledTargets?: ReadonlySet<string> | undefined;
  /** Told what turns do, for measuring. */
  readonly observe?: TurnObserver | undefined;
  readonly clock?: Clock | undefined;
  readonly ids?: Ids | undefined;
  readonly log?: Log | undefined;
}

export interface WorkerStats extends IntakeStats {
  readonly rings: number;
  readonly looks: number;
  readonly heartbeats: number;
  readonly steps: number;
  readonly turns: Readonly<Record<TurnOutcome, number>>;
}

export interface StopOptions {
  /** How long held work may take; then it is interrupted and given back. */
  readonly drainMs?: number | undefined;
}

export interface Worker {
  readonly workerId: string;
  /** Resolves when rings are heard and what was due has been looked for. */
  start(): Promise<void>;
  stop(options?: StopOptions): Promise<void>;
  stats(): WorkerStats;
}

const DEFAULT_TARGET = "worker_generic";
/** Thinking is mostly waiting for another computer. */
const DEFAULT_CONCURRENCY = 16;
/** A claim lasts for many of these. When the ring of a stop was lost, the model call is interrupted this much later. */
const HEARTBEAT_MS = 1_000;
/** How late an idle worker notices that others have more than they can take. */
const LOOK_MS = 1_000;
const BUSY_LOOK_MS = 5_000;
/** Work beyond the room is taken when a place is free, unless another worker was faster. */
const LOOK_AHEAD = 4;
const LEAST_LOOK = 16;
const MOST_LOOK = 500;
const DRAIN_MS = 10_000;

export const createWorker = (options: WorkerOptions): Worker => {
  const { engine, clock = systemClock, ids = createIds(), log = silentLog } = options;
  const { workerTargets = [DEFAULT_TARGET], concurrency = DEFAULT_CONCURRENCY } = options;
  if (workerTargets.length === 0) throw new UsageError("a worker needs at least one worker target");
  if (!Number.isInteger(concurrency) || concurrency < 1) throw new UsageError("concurrency is a whole number above 0");
  const workerId = options.workerId ?? `worker_${ids.uuid()}`;
  const outcomes: Record<TurnOutcome, number> = { suspended: 0, finished: 0, failed: 0, lost: 0, released: 0 };
  const ending = new AbortController();
  let steps = 0;
  let looks = 0;
  let rings = 0;
  let looking: Promise<void> | undefined;
  let lookAgain = false;
  let moreDue = false;
  let lookedAt = 0;
  let takenThen = 0;
  let serving: ServingAgents | undefined;
  let ticking: Promise<void> | undefined;
  let stopped: Promise<void> | undefined;

  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const holdings = createHoldings({ turns: engine.turns, clock, log, everyMs: options.heartbeatMs ?? HEARTBEAT_MS });
  const reader = createStepReader({ engine, clock });
  const runTurn = createRunTurn({
    engine,
    brains: options.brains,
    reader,
    prompts: createPromptSource({ engine, clock }),
    clock,
    ids,
    log,
    limits,
    timing: resolveTiming(options.timing),
    bundledTargets: options.bundledTargets,
    observe: harmless(options.observe ?? nobodyWatchesTurns),
    isDraining: () => ending.signal.aborted,
    stepDone: () => {
      steps++;
    },
  });

  /** The step that begins as soon as the work is taken; none when the turn will not begin one. */
  const stepOf = (work: Work): string | undefined => {
    if (work.kind === "ui_action") return undefined;
    const budget = planBudget(work, reader.knownProfile(work.projectId, work.profileBoxId), limits);
    return planTurnLimit(work, limits, budget) === undefined
      ? stepIdOf(work.agentTurnId, work.stepCount + 1, work.kind)
      : undefined;
  };

  const perform = async (work: Work): Promise<void> => {
    const holding = holdings.take(work);
    try {
      outcomes[await runTurn(holding)]++;
    } finally {
      holdings.leave(holding);
    }
  };

  const intake = createIntake({
    capacity: concurrency,
    advance: (key: AgentKey, takeWork) => engine.turns.advance({ ...key, workerId, takeWork, workerTargets, stepOf }),
    perform,
    rungWhileHeld: (work) => {
      holdings.check(work);
    },
    scanFailed: (key, error) => {
      log.warn("an agent's inbox could not be drained; it is looked at again", { ...key, ...errorTrace(error) });
    },
    hungry: () => {
      // Only when the last look brought work: due work that cannot be taken must not be looked at in a tight loop.
      if (moreDue && intake.stats().taken > takenThen) void look();
    },
  });

  const lookOnce = async (): Promise<void> => {
    looks++;
    const limit = Math.min(Math.max(intake.room() * LOOK_AHEAD, LEAST_LOOK), MOST_LOOK);
    moreDue = false;
    lookedAt = clock.now();
    takenThen = intake.stats().taken;
    try {
      const due = await engine.turns.due(workerTargets, limit);
      moreDue = due.length >= limit;
      for (const key of due) intake.offer(key);
    } catch (error) {
      log.warn("due work could not be read; trying again", errorTrace(error));
    }
  };

  const lookAround = async (): Promise<void> => {
    do {
      lookAgain = false;
      await lookOnce();
    } while (lookAgain && !ending.signal.aborted);
  };

  const look = (): Promise<void> => {
    looking ??= lookAround().finally(() => {
      looking = undefined;
    });
    return looking;
  };

  const server: PoolServer = {
    workerTargets,
    rung(key, why) {
      rings++;
      const hasRoom = intake.room() > 0;
      if (why === "work") intake.ringForWork(key);
      else intake.ring(key);
      return hasRoom;
    },
    look() {
      rings++;
      // A row that came after the look began may be missing in it.
      lookAgain = true;
      void look();
    },
    check: holdings.checkAll,
    reserve(key) {
      const seat = intake.reserve(key);
      return seat && { workerId, stepOf, ...seat };
    },
  };

  const tick = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await clock.sleep(options.lookMs ?? LOOK_MS, ending.signal);
      // Without room there is no hurry: rings are still heard.
      const sinceMs = clock.now() - lookedAt;
      const idle = intake.room() > 0 || sinceMs >= BUSY_LOOK_MS || sinceMs < 0;
      if (!ending.signal.aborted && idle) await look();
    }
  };

  const stop = async (drainMs: number): Promise<void> => {
    ending.abort();
    // From now on no new work is taken; rings for held work are heard until it is over.
    const drained = intake.close();
    await inTime(clock, drainMs, drained);
    holdings.interruptAll("draining");
    await drained;
    await serving?.stop();
    await ticking;
    await looking;
    await holdings.close();
    reader.close();
  };

  return {
    workerId,
    async start() {
      if (serving !== undefined || ending.signal.aborted) throw new UsageError("a worker is started once");
      serving = await engine.serveAgents(server);
      await look();
      ticking = tick();
    },
    stop({ drainMs = DRAIN_MS } = {}) {
      stopped ??= stop(drainMs);
      return stopped;
    },
    stats: () => ({
      ...intake.stats(),
      rings,
      looks,
      heartbeats: holdings.beats(),
      steps,
      turns: { ...outcomes },
    }),
  };
};
