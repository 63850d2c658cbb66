// When a process may be started again after others crashed.
//   RS1. Each crash in a row doubles the wait, up to a maximum; an answered call ends the row.
//   RS2. So many crashes within the window open the breaker, even if calls were answered in between: then nothing is started.
//   RS3. An open breaker lets one probe through when its time is over (half open): an answered call closes it and forgets the
//       crashes; another crash opens it again.

import { backoff } from "@toolplane/protocol";
import type { HostLimits } from "./host-limits.ts";

export interface RestartState {
  /** When processes crashed, within the window, oldest first. */
  readonly crashes: readonly number[];
  /** Crashes since the last answered call. */
  readonly row: number;
  /** No start before this. */
  readonly notBefore: number;
  readonly breaker: "closed" | "open" | "half_open";
}

export const NO_CRASHES: RestartState = { crashes: [], row: 0, notBefore: 0, breaker: "closed" };

export type RestartLimits = Pick<
  HostLimits,
  "backoffBaseMs" | "backoffMaxMs" | "breakerCrashes" | "breakerWindowMs" | "breakerOpenMs"
>;

export const planCrash = (
  state: RestartState,
  now: number,
  limits: RestartLimits,
  /** In [0, 1). */
  chance: number,
): RestartState => {
  const crashes = [...state.crashes.filter((at) => now - at < limits.breakerWindowMs), now].slice(
    -limits.breakerCrashes,
  );
  const row = state.row + 1;
  const opens = state.breaker !== "closed" || crashes.length >= limits.breakerCrashes;
  if (opens) return { crashes, row, notBefore: now + limits.breakerOpenMs, breaker: "open" };
  const wait = { first: limits.backoffBaseMs, longest: limits.backoffMaxMs };
  return { crashes, row, notBefore: now + backoff(wait, row, () => chance), breaker: "closed" };
};

/** A call was answered: the host works. While the breaker is open, that says nothing about a new process. */
export const planAnswered = (state: RestartState): RestartState => {
  if (state.breaker === "half_open") return NO_CRASHES;
  if (state.breaker === "open") return state;
  return state.row === 0 ? state : { ...state, row: 0, notBefore: 0 };
};

export type StartPlan =
  | { readonly kind: "start"; readonly state: RestartState }
  /** A backoff: waiting calls go on waiting. */
  | { readonly kind: "wait"; readonly ms: number }
  /** The breaker is open: waiting calls are refused. */
  | { readonly kind: "refuse"; readonly ms: number };

export const planStart = (state: RestartState, now: number): StartPlan => {
  const ms = Math.max(0, state.notBefore - now);
  if (state.breaker === "open") {
    return ms > 0 ? { kind: "refuse", ms } : { kind: "start", state: { ...state, breaker: "half_open" } };
  }
  return ms > 0 ? { kind: "wait", ms } : { kind: "start", state };
};
