// Which new calls an open breaker refuses. Pure.
//   BN1. Until its time is over, every new call is refused, and told the time of the trial.
//   BN2. After that a new call is let in only when it can be the trial: when no trial runs and no call waits that would be it. No time is known at
//        which a trial ends, so `closes_at` is null and the pause is an estimate.
//   BN3. Of calls that are asked for together, the first is the trial.

import { ToolplaneError } from "@toolplane/protocol";
import { targetOfGate } from "./gate.ts";

/** What is the trial of a breaker whose time is over, and since when; null: nothing of the kind. */
export interface Trials {
  readonly running_since_ms: number | null;
  /** Its call was canceled, and its service still runs it. */
  readonly lingering_since_ms: number | null;
  readonly waiting_since_ms: number | null;
}

export interface OpenGate {
  /** The place of the call in the list of those that are asked for. */
  readonly index: number;
  readonly gate: { readonly projectId: string; readonly gate: string };
  readonly sinceMs: number | null;
  readonly untilMs: number;
  readonly nowMs: number;
  readonly trials: Trials | undefined;
}

/** A trial that has lasted long will hardly end in a second; one that never ends is asked for every ten. */
const MOST_SECONDS = 10;

/** The gate in the words of a sentence. */
export const nameOf = (gate: string): string => {
  const target = targetOfGate(gate);
  return target === undefined ? gate : `target ${target}`;
};

const keyOf = ({ projectId, gate }: OpenGate["gate"]): string => `${projectId} ${gate}`;

const refuse = (open: OpenGate, then: string, closesAt: string | null, seconds: number): ToolplaneError => {
  const of = nameOf(open.gate.gate);
  const since = new Date(open.sinceMs ?? open.nowMs).toISOString();
  return new ToolplaneError(
    "breaker_open",
    `the breaker of ${of} has been open since ${since}, because too many of its runs failed; ${then}`,
    { detail: { of, since, closes_at: closesAt, retry_after_seconds: seconds } },
  );
};

const pauseSince = (sinceMs: number, nowMs: number): number =>
  Math.min(Math.max(Math.ceil((nowMs - sinceMs) / 1_000), 1), MOST_SECONDS);

const ENDS = "the breaker closes if the trial succeeds";

const refusalOf = (open: OpenGate, isTaken: boolean): ToolplaneError | undefined => {
  const { untilMs, nowMs, trials } = open;
  if (untilMs > nowMs) {
    const at = new Date(untilMs).toISOString();
    return refuse(open, `the next call may run at ${at}, as a trial`, at, Math.ceil((untilMs - nowMs) / 1_000));
  }
  const told = (what: string, sinceMs: number): ToolplaneError =>
    refuse(open, `${what}; ${ENDS}`, null, pauseSince(sinceMs, nowMs));
  if (trials?.running_since_ms != null) return told("its trial runs now", trials.running_since_ms);
  if (trials?.lingering_since_ms != null)
    return told("its trial was canceled, and its service still runs it", trials.lingering_since_ms);
  if (trials?.waiting_since_ms != null)
    return told("a call that was made before waits to run as its trial", trials.waiting_since_ms);
  return isTaken ? told("a call that was made before waits to run as its trial", nowMs) : undefined;
};

/** For each of `count` calls why it is refused. A call may pass several gates; one that any of them refuses is no trial of the others. */
export const planRefusals = (count: number, open: readonly OpenGate[]): readonly (ToolplaneError | undefined)[] => {
  const taken = new Set<string>();
  const byCall = Map.groupBy(open, ({ index }) => index);
  return Array.from({ length: count }, (_, index) => {
    const mine = byCall.get(index) ?? [];
    for (const one of mine) {
      const refusal = refusalOf(one, taken.has(keyOf(one.gate)));
      if (refusal !== undefined) return refusal;
    }
    for (const { gate } of mine) taken.add(keyOf(gate));
    return undefined;
  });
};
