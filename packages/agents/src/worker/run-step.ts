// One step of a turn: read, show, think, carry out. planQuestion and planAnswer decide; this file has the effects, in the order
// of the protocol.
//   I8. Only ids and codes are logged, never a prompt, an answer or an argument.

import {
  type Clock,
  type Ids,
  isAway,
  type Log,
  type StepCommit,
  type StepEntry,
  stepIdOf,
  type TurnBoxes,
  type TurnFinish,
  type Work,
} from "@toolplane/engine";
import { isToolplaneError, type JsonObject, ToolplaneError } from "@toolplane/protocol";
import { mayUseTool, type Profile } from "@toolplane/protocol/registry";
import type { BrainAnswer, BrainSource } from "../brains/brain.ts";
import { askedCardId, planReadCard } from "../transcript/read-card.ts";
import { askBrain } from "./ask-brain.ts";
import { type AskedCall, readAskedCalls } from "./asked-calls.ts";
import { type Budget, timeIsOver, timeLeftMs } from "./budget.ts";
import { errorTrace } from "./error-trace.ts";
import type { Holding } from "./holdings.ts";
import type { TurnLimits } from "./limits.ts";
import { persist } from "./persist.ts";
import { type AnswerPlan, type Fate, planAnswer } from "./plan-answer.ts";
import { BUILT_IN_TOOLS, planFailure, planQuestion, profileNotFound, type QuestionPlan } from "./plan-question.ts";
import type { PromptSource } from "./prompt-source.ts";
import * as cards from "./step-cards.ts";
import type { StepReader } from "./step-reader.ts";
import { type StepTiming, startStepTiming, type TimingPlan } from "./timing.ts";
import type { TurnObserver } from "./turn-observer.ts";
import { notesOf, type ThoughtNote, turnStats } from "./usage.ts";
import type { WorkerEngine } from "./worker-engine.ts";

export interface StepDeps {
  readonly engine: Pick<WorkerEngine, "turns" | "bus">;
  readonly brains: BrainSource;
  readonly reader: StepReader;
  readonly prompts: PromptSource;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly limits: TurnLimits;
  readonly timing: TimingPlan;
  readonly observe: TurnObserver;
  readonly bundledTargets?: ReadonlySet<string> | undefined;
}

export type StepOutcome =
  /** `blocked`: a tool that ends the turn was refused, because the inbox must be drained first. */
  | { readonly next: "running"; readonly stepCount: number; readonly blocked: boolean }
  | { readonly next: "suspended" }
  /** `instead`: what the step writes when the turn may not end yet. */
  | { readonly next: "end"; readonly end: TurnFinish; readonly instead?: (error: ToolplaneError) => StepCommit };

export interface StepAsk {
  readonly holding: Holding;
  /** The holding's work, with the steps committed since. */
  readonly work: Work;
  /** When this process got it, on its own clock. */
  readonly receivedAt: number;
  readonly budget: Budget;
}

export type RunStep = (ask: StepAsk) => Promise<StepOutcome>;

interface Scene {
  readonly work: Work;
  readonly holding: Holding;
  readonly stepId: string;
  readonly profile: Profile;
  readonly thoughts: readonly ThoughtNote[];
  readonly plan: QuestionPlan;
  readonly timing: StepTiming;
  readonly budget: Budget;
  /** What is left of the turn's time now, in milliseconds; undefined without a time budget. */
  readonly leftMs: () => number | undefined;
}

export const createRunStep = (deps: StepDeps): RunStep => {
  const { engine, clock, limits, reader, log } = deps;
  const asking = {
    brains: deps.brains,
    bus: engine.bus,
    clock,
    log,
    showTiming: deps.timing.streamMetadata,
  };

  const makerOf = ({ work, stepId }: Scene): cards.CardMaker => ({
    work,
    stepId,
    now: new Date(clock.now()).toISOString(),
    cardId: deps.ids.uuid,
  });

  /** A card is read here, for this call alone: the step holds ids only. */
  const readCard = async (given: unknown, { work, plan, holding }: Scene) => {
    const id = askedCardId(given);
    const card = plan.visible.has(id)
      ? await persist(clock, holding.signal, () => reader.card(work.projectId, id))
      : undefined;
    return planReadCard(given, new Map(card === undefined ? [] : [[id, card]]));
  };

  const runLocal = async (
    fate: Extract<Fate, { do: "local" }>,
    index: number,
    maker: cards.CardMaker,
    scene: Scene,
  ) => {
    const { call } = fate;
    try {
      return cards.localResultCard(maker, call, index, await readCard(fate.arguments, scene));
    } catch (error) {
      if (isAway(error)) throw error;
      if (!isToolplaneError(error)) log.error("a built-in tool failed", { tool: call.name, ...errorTrace(error) });
      const failure = isToolplaneError(error)
        ? error
        : new ToolplaneError("internal_error", `${call.name} failed; do without it`);
      return cards.localFailureCard(maker, call, index, failure);
    }
  };

  const entryOf = async (fate: Fate, index: number, maker: cards.CardMaker, scene: Scene): Promise<StepEntry> => {
    const { call } = fate;
    const { external } = scene.plan;
    const ofProject = { toolName: call.name, arguments: call.arguments, providerCallId: call.alias, external };
    switch (fate.do) {
      case "dispatch":
        return { call: ofProject };
      case "refuse":
        return { call: ofProject, refuse: fate.error };
      case "fail":
        return { card: cards.localFailureCard(maker, call, index, fate.error) };
      case "local":
        return { card: await runLocal(fate, index, maker, scene) };
    }
  };

  const metadataOf = (answer: BrainAnswer | undefined, { timing }: Scene): JsonObject => ({
    ...(answer?.usage === undefined ? {} : { llm_usage: answer.usage }),
    ...(answer?.cost === undefined ? {} : { llm_response_cost: answer.cost }),
    ...(answer?.model === undefined ? {} : { llm_model: answer.model }),
    ...(deps.timing.stepEvent ? { timing: timing.fields() } : {}),
  });

  const statsOf = (answer: BrainAnswer | undefined, { work, thoughts, timing }: Scene): JsonObject => ({
    ...turnStats(thoughts, work.agentTurnId, work.stepCount + 1, answer),
    ...(deps.timing.taskEvent ? { timing: timing.fields() } : {}),
  });

  const decide = (answer: BrainAnswer, calls: readonly AskedCall[], { plan, profile }: Scene): AnswerPlan =>
    planAnswer({
      text: answer.text,
      calls,
      mustEndWith: profile.must_end_with,
      offered: plan.offered,
      restricted: plan.restricted,
      mayUse: (name) => mayUseTool(profile, name) && !plan.withheld.has(name),
      builtIn: BUILT_IN_TOOLS,
      requiredFields: plan.requiredFields,
      maxCalls: limits.maxCallsPerStep,
    });

  const carryOut = async (answer: BrainAnswer, scene: Scene): Promise<StepOutcome> => {
    const { work, stepId, plan, profile, holding } = scene;
    const maker = makerOf(scene);
    const calls = readAskedCalls(answer.toolCalls, work.stepCount + 1);
    const decided = decide(answer, calls, scene);
    const request = cards.requestCards(maker, scene.thoughts, plan.system, plan.tools);
    const saveReasoning = profile.llm_config.save_reasoning_content;
    const thought = { ...request, saveReasoning, external: plan.external };
    const said: readonly StepEntry[] = [...request.entries, { card: cards.thoughtCard(maker, answer, calls, thought) }];
    const step = { stepId, metadata: metadataOf(answer, scene) };
    const finish = { ...step, status: "success", stats: statsOf(answer, scene) } as const;
    switch (decided.kind) {
      case "deliver":
        return { next: "end", end: { ...finish, entries: said, deliverable: decided.text } };
      case "submit": {
        const entries = [...said, { card: cards.submittedCard(maker, decided.call) }];
        const instead = (error: ToolplaneError): StepCommit => ({
          ...step,
          blocked: true,
          entries: [...said, { card: cards.localFailureCard(maker, decided.call, 0, error) }],
        });
        return { next: "end", end: { ...finish, entries, deliverable: decided.deliverable, guard: true }, instead };
      }
      case "remind":
      case "act": {
        const acts: StepEntry[] = decided.kind === "remind" ? [{ card: cards.reminderCard(maker, decided.text) }] : [];
        // One after the other: each may hold a card of a megabyte.
        for (const [index, fate] of (decided.kind === "act" ? decided.fates : []).entries())
          acts.push(await entryOf(fate, index, maker, scene));
        const leftMs = scene.leftMs();
        const resumeSeconds = leftMs === undefined ? undefined : Math.max(0, leftMs) / 1000;
        const commit = { ...step, entries: [...said, ...acts], resumeSeconds };
        const done = await persist(clock, holding.signal, () => engine.turns.commitStep(work, commit));
        if (done.next === "suspended") return { next: "suspended" };
        const blocked = done.calls.some(({ refusal }) => refusal?.code === "inbox_not_empty");
        return { next: "running", stepCount: done.stepCount, blocked };
      }
    }
  };

  const failureOf = (error: unknown, scene: Scene): StepOutcome => {
    const { work, stepId, plan, thoughts } = scene;
    if (!isToolplaneError(error))
      log.error("a brain failed", { agentTurnId: work.agentTurnId, stepId, ...errorTrace(error) });
    const { entries } = cards.requestCards(makerOf(scene), thoughts, plan.system, plan.tools);
    const metadata = metadataOf(undefined, scene);
    // A brain that was interrupted because the turn's time is over did not fail.
    const isLate = (scene.leftMs() ?? 1) <= 0;
    const failure = isLate ? timeIsOver(scene.budget.seconds ?? 0) : planFailure(error);
    return { next: "end", end: { ...failure, stepId, entries, metadata, stats: statsOf(undefined, scene) } };
  };

  /** What the brain is asked. The cards themselves are let go before it is: a brain may think for minutes. */
  const look = async (work: Work, profile: Profile, stepId: string, budget: Budget) => {
    const known = Promise.all([reader.tools(work.projectId, profile), deps.prompts.valuesFor(work.projectId, profile)]);
    const show = async (boxes: TurnBoxes) => {
      const [definitions, promptValues] = await known;
      const plan = planQuestion({ ...deps, maxSteps: budget.steps, work, profile, boxes, definitions, promptValues });
      return { plan, thoughts: notesOf(boxes.output) };
    };
    const [shown] = await Promise.all([
      work.opening === undefined ? reader.withBoxes(work, show) : show(work.opening),
      work.begunStepId === stepId ? undefined : engine.turns.beginStep(work, stepId),
      known,
    ]);
    return shown;
  };

  return async ({ holding, work, receivedAt, budget }) => {
    const stepId = stepIdOf(work.agentTurnId, work.stepCount + 1, work.kind);
    const { signal } = holding;
    const profile = await persist(clock, signal, () => reader.profile(work.projectId, work.profileBoxId));
    if (profile === undefined) return { next: "end", end: profileNotFound(work) };
    const timing = startStepTiming(clock, work, stepId, receivedAt);
    const { plan, thoughts } = await persist(clock, signal, () => look(work, profile, stepId, budget));
    const leftMs = () => timeLeftMs(work, budget, clock.now() - receivedAt);
    const scene: Scene = { work, holding, stepId, profile, thoughts, plan, timing, budget, leftMs };
    const beganAt = clock.now();
    const asked = (more: { readonly model?: string | undefined; readonly error?: string | undefined }): void =>
      deps.observe.asked(work, { stepId, beganAt, endedAt: clock.now(), ...more });
    let answer: BrainAnswer;
    try {
      const thinkMs = Math.min(limits.thinkMs, Math.max(1, leftMs() ?? limits.thinkMs));
      answer = await askBrain({ ...asking, thinkMs }, { ...scene, signal });
      asked({ model: answer.model });
    } catch (error) {
      asked({ error: isToolplaneError(error) ? error.code : "internal_error" });
      // The work is gone, or the worker must stop: that is not the brain's fault, and does not end the turn.
      if (holding.interruption() !== undefined) throw error;
      return failureOf(error, scene);
    }
    if (deps.timing.workerLogs) log.info("a step has ended", { agentTurnId: work.agentTurnId, ...timing.fields() });
    return carryOut(answer, scene);
  };
};
