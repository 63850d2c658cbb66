// Three attempts at one answer. A failure that may pass is tried again after 2 seconds, then after 4, or after the time that the endpoint
// asks for, if that is longer. Any other failure is reported at once.

import { type Backoff, backoff, type ToolplaneError } from "@toolplane/protocol";
import type { Clock } from "@toolplane/sdk";
import { canceled, unlessAborted } from "../unless-aborted.ts";
import type { ModelFailure } from "./model-failure.ts";

const MAX_ATTEMPTS = 3;
const DELAY_MS: Backoff = { first: 2_000, longest: 10_000 };
/** An endpoint that wants a longer rest is not waited for: the turn would look dead. */
const MAX_RETRY_AFTER_MS = 60_000;

/** Undefined: do not try again. */
export const planDelay = (attempt: number, failure: Omit<ModelFailure, "error">): number | undefined => {
  if (!failure.retry || attempt >= MAX_ATTEMPTS) return undefined;
  const asked = failure.retryAfterMs ?? 0;
  if (asked > MAX_RETRY_AFTER_MS) return undefined;
  return Math.max(asked, backoff(DELAY_MS, attempt));
};

export interface AttemptPorts {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onRetry?: ((attempt: number, error: ToolplaneError) => void) | undefined;
}

export type Attempt<T> = { readonly answer: T } | { readonly failure: ModelFailure };

export const withAttempts = async <T>(
  { clock, signal, onRetry }: AttemptPorts,
  run: () => Promise<Attempt<T>>,
): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    const made = await unlessAborted(run(), signal);
    if ("answer" in made) return made.answer;
    if (signal.aborted) throw canceled();
    const delay = planDelay(attempt, made.failure);
    if (delay === undefined) throw made.failure.error;
    onRetry?.(attempt, made.failure.error);
    await clock.sleep(delay, signal);
    if (signal.aborted) throw canceled();
  }
};
