// Runs work from its claim until it cannot go on: suspended, ended, given back, or gone.
//   Every failure ends the turn with a status, a code and a deliverable (W-13, W-35), except two: a lost claim (another worker
//   has the turn, or it was stopped) and a database that is away (the claim lapses and the turn goes on later).

import { isAway, stepIdOf, type TurnFinish, type Work } from "@toolplane/engine";
import { isToolplaneError, type ToolplaneError } from "@toolplane/protocol";
import { type Budget, planBudget, planTokenLimit, timeIsOver, timeLeftMs } from "./budget.ts";
import { errorTrace } from "./error-trace.ts";
import type { Holding } from "./holdings.ts";
import { persist } from "./persist.ts";
import { planFailure, planTurnLimit } from "./plan-question.ts";
import { createRunStep, type StepDeps, type StepOutcome } from "./run-step.ts";
import { runUiAction } from "./ui-action.ts";
import { notesOf, turnStats } from "./usage.ts";
import type { WorkerEngine } from "./worker-engine.ts";

export type TurnOutcome = "suspended" | "finished" | "failed" | "lost" | "released";

export interface TurnDeps extends StepDeps {
  readonly engine: Pick<WorkerEngine, "turns" | "bus" | "definitions">;
  readonly stepDone: () => void;
  /** At the end of a step the remaining work is left to other workers. */
  readonly isDraining: () => boolean;
}

/** The claim, the turn or the epoch is not current any more (T2): the worker that has the turn now goes on. */
const isGone = (error: unknown): boolean =>
  isToolplaneError(error) && (error.code === "lease_lost" || error.code === "conflict");

/** The inbox holds messages that the turn has not seen: it goes on when they were drained. */
const isBlocked = (error: unknown): error is ToolplaneError =>
  isToolplaneError(error) && error.code === "inbox_not_empty";

const DRAIN_CYCLES = 5;
/** A row that is tried again is due within two seconds. */
const DRAIN_PAUSE_MS = 1_000;

const drainExceeded: TurnFinish = {
  status: "failed",
  errorCode: "inbox_guard_wait_exceeded",
  error:
    "the agent's inbox could not be drained, so the turn could not end as it wanted; look at the agent's open messages",
};

export const createRunTurn = (deps: TurnDeps): ((holding: Holding) => Promise<TurnOutcome>) => {
  const { engine, clock, log, limits, reader } = deps;
  const runStep = createRunStep(deps);

  const finish = async (holding: Holding, work: Work, end: TurnFinish): Promise<TurnOutcome> => {
    const write = async (what: TurnFinish): Promise<void> => {
      await persist(clock, holding.signal, () => engine.turns.finish(work, what));
      deps.observe.ended(work, { status: what.status, errorCode: what.errorCode, at: clock.now() });
    };
    try {
      await write(end);
      return end.status === "success" ? "finished" : "failed";
    } catch (error) {
      if (isGone(error) || isAway(error) || isBlocked(error)) throw error;
      // The answer cannot be stored: the turn ends without it.
      log.error("the end of a turn could not be stored as it was given", {
        agentTurnId: work.agentTurnId,
        ...errorTrace(error),
      });
      await write({ ...planFailure(error), stepId: end.stepId, stats: end.stats });
      return "failed";
    }
  };

  /** An end between steps knows its usage only from the cards. */
  const withStats = async (work: Work, end: TurnFinish): Promise<TurnFinish> => {
    if (end.stats !== undefined) return end;
    const thoughts = await reader.withBoxes(work, ({ output }) => notesOf(output));
    return { ...end, stats: turnStats(thoughts, work.agentTurnId, work.stepCount) };
  };

  type Running = Extract<StepOutcome, { next: "running" | "suspended" }>;

  const endOrGoOn = async (
    holding: Holding,
    work: Work,
    { end, instead }: Extract<StepOutcome, { next: "end" }>,
  ): Promise<TurnOutcome | Running> => {
    try {
      return await finish(holding, work, await withStats(work, end));
    } catch (error) {
      if (!isBlocked(error) || instead === undefined) throw error;
      const step = instead(error);
      const { stepCount } = await persist(clock, holding.signal, () => engine.turns.commitStep(work, step));
      return { next: "running", stepCount, blocked: true };
    }
  };

  const drained = async (holding: Holding, work: Work): Promise<boolean> => {
    for (let cycle = 0; cycle < DRAIN_CYCLES && !holding.signal.aborted; cycle++) {
      if (cycle > 0) await clock.sleep(DRAIN_PAUSE_MS, holding.signal);
      if (await persist(clock, holding.signal, () => engine.turns.settleInbox(work))) return true;
    }
    return holding.signal.aborted;
  };

  /** Why the next step is not begun, if it is not. Only a budget of tokens needs the cards of the turn. */
  const limitOf = async (
    holding: Holding,
    work: Work,
    budget: Budget,
    receivedAt: number,
  ): Promise<TurnFinish | undefined> => {
    const limit = planTurnLimit(work, limits, budget);
    if (limit !== undefined) return limit;
    const leftMs = timeLeftMs(work, budget, clock.now() - receivedAt);
    if (leftMs !== undefined && leftMs <= 0) return timeIsOver(budget.seconds ?? 0);
    if (budget.tokens === undefined || work.stepCount === 0) return undefined;
    const read = () => reader.withBoxes(work, ({ output }) => notesOf(output));
    return planTokenLimit(work, await persist(clock, holding.signal, read), budget);
  };

  const runSteps = async (holding: Holding): Promise<TurnOutcome> => {
    const receivedAt = clock.now();
    let work = holding.work;
    const { projectId, profileBoxId } = work;
    const profile = await persist(clock, holding.signal, () => reader.profile(projectId, profileBoxId));
    const budget = planBudget(work, profile, limits);
    deps.observe.taken(work, receivedAt);
    for (;;) {
      const limit = await limitOf(holding, work, budget, receivedAt);
      if (limit !== undefined) return finish(holding, work, await withStats(work, limit));
      const stepId = stepIdOf(work.agentTurnId, work.stepCount + 1, work.kind);
      const beganAt = clock.now();
      const outcome = await runStep({ holding, work, receivedAt, budget });
      const ended = outcome.next === "end" ? await endOrGoOn(holding, work, outcome) : outcome;
      deps.observe.stepped(work, { stepId, beganAt, endedAt: clock.now() });
      deps.stepDone();
      if (typeof ended === "string") return ended;
      if (ended.next === "suspended") return "suspended";
      work = { ...work, stepCount: ended.stepCount, opening: undefined };
      if (ended.blocked && !(await drained(holding, work)))
        return finish(holding, work, await withStats(work, drainExceeded));
      if (holding.signal.aborted || deps.isDraining()) return giveBack(holding);
    }
  };

  const runAction = async (holding: Holding): Promise<TurnOutcome> => {
    const { work } = holding;
    const end = await persist(clock, holding.signal, () => runUiAction({ engine, reader }, work));
    return end === undefined ? "suspended" : finish(holding, work, end);
  };

  const giveBack = async ({ work, interruption }: Holding): Promise<TurnOutcome> => {
    if (interruption() === "claim_lost") return "lost";
    try {
      await engine.turns.release(work);
    } catch (error) {
      log.warn("work could not be given back; its claim lapses", {
        agentTurnId: work.agentTurnId,
        ...errorTrace(error),
      });
    }
    return "released";
  };

  const endBroken = async (holding: Holding, error: unknown): Promise<TurnOutcome> => {
    const { work } = holding;
    log.error("a step failed", { agentTurnId: work.agentTurnId, agentId: work.agentId, ...errorTrace(error) });
    return finish(holding, work, planFailure(error));
  };

  const rescue = async (holding: Holding, error: unknown): Promise<TurnOutcome> => {
    if (holding.signal.aborted) return giveBack(holding);
    if (isGone(error)) return "lost";
    if (!isAway(error)) return endBroken(holding, error);
    log.warn("the database is away; another worker will go on with the turn", {
      agentTurnId: holding.work.agentTurnId,
    });
    return giveBack(holding);
  };

  return async (holding) => {
    try {
      return await (holding.work.kind === "ui_action" ? runAction(holding) : runSteps(holding));
    } catch (error) {
      try {
        return await rescue(holding, error);
      } catch (again) {
        if (!isGone(again))
          log.error("a worker could not end a turn; its claim lapses, and another worker takes the turn", {
            agentTurnId: holding.work.agentTurnId,
            ...errorTrace(again),
          });
        return "lost";
      }
    }
  };
};
