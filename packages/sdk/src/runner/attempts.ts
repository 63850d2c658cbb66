// Runs a tool, and runs it again when that may help. The error table, the tool's own word and the deadline decide whether it may.
//   AT1. Only a tool declared `retry: safe` is tried again, and never after its deadline, a cancellation or a lost lease.
//   AT2. When a tool ignores its signal, the runner stops waiting for it: its slot is free, and its late result is dropped.

import { type Backoff, backoff, type ErrorEnvelope, mayHelp } from "@toolplane/protocol";
import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/ids.ts";
import { type UnderstoodError, understandToolError } from "../tools/tool-error.ts";
import { onAbort } from "./run-signal.ts";

export interface FailedAttempt {
  readonly code: string;
  /** What the tool itself said. */
  readonly retryable: boolean | undefined;
  /** The pause that the other side asked for. */
  readonly retryAfterMs?: number | undefined;
  readonly retry: "safe" | "never";
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly now: number;
  readonly deadline: number;
}

export type AttemptPlan =
  | { readonly again: false; readonly because: "unsafe" | "advice" | "attempts" | "deadline" }
  | { readonly again: true; readonly waitMs: number };

/** Tools call other systems; those need longer to recover than a dropped connection. */
const TOOL_BACKOFF: Backoff = { first: 250, longest: 10_000 };

export const planAttempt = (failed: FailedAttempt, random: Random): AttemptPlan => {
  if (failed.retry !== "safe") return { again: false, because: "unsafe" };
  if (!mayHelp(failed.code, failed.retryable)) return { again: false, because: "advice" };
  if (failed.attempt >= failed.maxAttempts) return { again: false, because: "attempts" };
  const waitMs = Math.max(backoff(TOOL_BACKOFF, failed.attempt, random), failed.retryAfterMs ?? 0);
  return failed.now + waitMs >= failed.deadline ? { again: false, because: "deadline" } : { again: true, waitMs };
};

export interface FailedTry {
  readonly error: ErrorEnvelope;
  readonly thrown: unknown;
}

interface Tries {
  /** How often the tool was started. */
  readonly tries: number;
}

export type RunEnd =
  | ({ readonly kind: "value"; readonly value: unknown; readonly failed?: FailedTry | undefined } & Tries)
  | ({ readonly kind: "error"; readonly failed: FailedTry } & Tries)
  /** The signal was aborted first; its owner knows the cause. */
  | ({ readonly kind: "ended"; readonly failed?: FailedTry | undefined } & Tries);

export interface AttemptsInput {
  readonly execute: (attempt: number) => Promise<unknown>;
  readonly signal: AbortSignal;
  readonly retry: "safe" | "never";
  readonly maxAttempts: number;
  readonly deadline: number;
  readonly clock: Clock;
  readonly random: Random;
  /** Removes secrets from a text. */
  readonly scrub: (text: string) => string;
  /** Called with `true` for a tool that did not stop when told to, and with `false` when it ends after all. */
  readonly onLeftBehind: (running: boolean) => void;
  readonly onRetry: (attempt: number, error: ErrorEnvelope, waitMs: number) => void;
}

type Settled = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly thrown: unknown };

/** The outcome of one run, or undefined when the signal came first. */
const runOnce = async (
  { execute, signal, onLeftBehind }: AttemptsInput,
  attempt: number,
): Promise<Settled | undefined> => {
  let done = false;
  const work: Promise<Settled> = (async () => execute(attempt))()
    .then(
      (value): Settled => ({ ok: true, value }),
      (thrown: unknown): Settled => ({ ok: false, thrown }),
    )
    .finally(() => {
      done = true;
    });
  const { aborted, stop } = onAbort(signal);
  const first = await Promise.race([work, aborted]);
  stop();
  if (first !== undefined) return signal.aborted ? undefined : first;
  // A tool that heeds its signal has ended by the next tick; only a tool that has not is logged.
  await new Promise((resolve) => setImmediate(resolve));
  if (!done) {
    onLeftBehind(true);
    void work.then(() => onLeftBehind(false));
  }
  return undefined;
};

export const runAttempts = async (input: AttemptsInput): Promise<RunEnd> => {
  const { signal, clock, random, retry, maxAttempts, deadline } = input;
  let failed: FailedTry | undefined;
  for (let attempt = 1; ; attempt += 1) {
    if (signal.aborted) return { kind: "ended", tries: attempt - 1, failed };
    const settled = await runOnce(input, attempt);
    if (settled === undefined) return { kind: "ended", tries: attempt, failed };
    if (settled.ok) return { kind: "value", value: settled.value, tries: attempt, failed };
    const { envelope, retryable, retryAfterMs }: UnderstoodError = understandToolError(settled.thrown, input.scrub);
    const plan = planAttempt(
      { code: envelope.code, retryable, retryAfterMs, retry, attempt, maxAttempts, now: clock.now(), deadline },
      random,
    );
    failed = { error: envelope, thrown: settled.thrown };
    if (!plan.again) return { kind: "error", failed, tries: attempt };
    input.onRetry(attempt, envelope, plan.waitMs);
    await clock.sleep(plan.waitMs, signal);
  }
};
