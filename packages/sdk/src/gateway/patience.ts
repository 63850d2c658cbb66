// Retrying. One loop for every gateway (G3); the error table says which failures may pass.

import { type Backoff, backoff, ERROR_TABLE, ToolplaneError, understandError } from "@toolplane/protocol";
import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/ids.ts";
import type { Patience } from "./gateway.ts";

/** Where a gateway notes how long the other side asked it to wait. */
export const RETRY_AFTER_DETAIL = "retry_after_seconds";

/** The first wait is short because most failures are a restart or a dropped connection. */
const GATEWAY_BACKOFF: Backoff = { first: 200, longest: 5_000 };

/** A server that asks for more is asked again anyway: leases do not last longer. */
const MAX_RETRY_AFTER_MS = 60_000;

/** Every operation of a gateway may be repeated, so every failure of the other side may be retried. */
export const mayPass = (error: ToolplaneError): boolean =>
  ERROR_TABLE[error.code].http >= 500 || error.code === "rate_limited";

export interface FailedTry {
  readonly error: ToolplaneError;
  /** How many tries failed, this one included. */
  readonly failures: number;
  readonly now: number;
  readonly until: number | undefined;
}

export type RetryPlan = { readonly retry: false } | { readonly retry: true; readonly waitMs: number };

/** How long the other side asked for, in milliseconds; 0 when it did not say. */
export const askedFor = (error: ToolplaneError): number => {
  const seconds = error.detail?.[RETRY_AFTER_DETAIL];
  return typeof seconds === "number" && seconds > 0 ? Math.min(seconds * 1_000, MAX_RETRY_AFTER_MS) : 0;
};

export const planRetry = ({ error, failures, now, until }: FailedTry, random: Random): RetryPlan => {
  if (until === undefined || !mayPass(error)) return { retry: false };
  const waitMs = Math.max(askedFor(error), backoff(GATEWAY_BACKOFF, failures, random));
  return now + waitMs >= until ? { retry: false } : { retry: true, waitMs };
};

export interface PatienceDeps {
  readonly clock: Clock;
  readonly random: Random;
}

const abortError = (signal: AbortSignal): ToolplaneError =>
  signal.reason instanceof ToolplaneError ? signal.reason : new ToolplaneError("canceled", "the request was given up");

/** Runs the operation until it succeeds, fails for good, runs out of time or is given up; without `until` once. */
export const withPatience = async <T>(
  { clock, random }: PatienceDeps,
  { signal, until }: Patience,
  operation: () => Promise<T>,
): Promise<T> => {
  for (let failures = 1; ; failures += 1) {
    if (signal?.aborted) throw abortError(signal);
    try {
      return await operation();
    } catch (thrown) {
      if (signal?.aborted) throw abortError(signal);
      const error = understandError(thrown);
      const plan = planRetry({ error, failures, now: clock.now(), until: until?.() }, random);
      if (!plan.retry) throw error;
      await clock.sleep(plan.waitMs, signal);
    }
  }
};
