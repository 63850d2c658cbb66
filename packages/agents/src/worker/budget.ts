// What a turn may use up: what was said for this turn, else by its profile, else by the operator of the machine. Pure.
//   BG1. A turn that an agent asked for may lower its profile's budget, never raise it.
//   BG2. Steps and tokens are counted before each step. Time is also kept while a model thinks; while the turn waits for calls the
//        watchdog keeps it (tend-turns).

import type { TurnFinish, Work } from "@toolplane/engine";
import { type Profile, readTurnBudget, type TurnBudget } from "@toolplane/protocol/registry";
import type { TurnLimits } from "./limits.ts";
import { type ThoughtNote, turnTokens } from "./usage.ts";

export interface Budget {
  readonly steps: number;
  readonly tokens: number | undefined;
  readonly seconds: number | undefined;
}

const lower = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);

export const planBudget = (
  { runtimeConfig }: Pick<Work, "runtimeConfig">,
  profile: Pick<Profile, "budget"> | undefined,
  limits: Pick<TurnLimits, "maxSteps">,
): Budget => {
  const asked = readTurnBudget(runtimeConfig.budget ?? {});
  const ofProfile: TurnBudget = profile?.budget ?? {};
  const mayRaise = runtimeConfig.budget_only_lowers !== true;
  const pick = (key: keyof TurnBudget): number | undefined =>
    mayRaise ? (asked[key] ?? ofProfile[key]) : lower(asked[key], ofProfile[key]);
  return { steps: pick("steps") ?? limits.maxSteps, tokens: pick("tokens"), seconds: pick("seconds") };
};

const failed = (errorCode: string, error: string): TurnFinish => ({ status: "failed", errorCode, error });

export const planStepLimit = ({ stepCount }: Pick<Work, "stepCount">, { steps }: Budget): TurnFinish | undefined =>
  stepCount < steps ? undefined : failed("max_steps_reached", `max_steps_reached (max_steps=${steps})`);

export const timeIsOver = (seconds: number): TurnFinish => ({
  status: "timeout",
  errorCode: "time_budget_reached",
  error: `time_budget_reached (seconds=${seconds})`,
});

/** `output`: the cards that the turn has written. */
export const planTokenLimit = (
  { agentTurnId }: Pick<Work, "agentTurnId">,
  output: readonly ThoughtNote[],
  { tokens }: Budget,
): TurnFinish | undefined => {
  if (tokens === undefined) return undefined;
  const used = turnTokens(output, agentTurnId);
  if (used < tokens) return undefined;
  return failed("token_budget_reached", `token_budget_reached (used=${used}, tokens=${tokens})`);
};

/** What is left of the turn's time, in milliseconds; undefined without a time budget. */
export const timeLeftMs = (
  work: Pick<Work, "claimedAtMs" | "turnDispatchedAtMs">,
  { seconds }: Budget,
  heldMs: number,
): number | undefined =>
  seconds === undefined
    ? undefined
    : seconds * 1000 - Math.max(0, work.claimedAtMs - work.turnDispatchedAtMs) - Math.max(0, heldMs);
