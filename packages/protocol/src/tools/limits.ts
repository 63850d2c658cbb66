// The limits of tools and projects, in one shape everywhere. Pure.

import { z } from "zod";

/** As long as the longest run: a longer window would outlive what it counts. */
const MAX_SECONDS = 7 * 86_400;
const MAX_IN_FLIGHT = 10_000;
const MAX_PER_WINDOW = 1_000_000;

/** A shorter window ends before a claim has answered. */
const MIN_SECONDS = 0.01;
/** Times in the database have microseconds: a higher rate could not be told from none. */
const MAX_PER_SECOND = 1_000_000;

const seconds = z.number().min(MIN_SECONDS).max(MAX_SECONDS);

/** Calls in flight. */
export const concurrencySchema = z.int().min(1).max(MAX_IN_FLIGHT);

/** `limit` calls in `per_seconds`; `burst` of them at once. */
export const rateSchema = z
  .strictObject({
    limit: z.int().min(1).max(MAX_PER_WINDOW),
    per_seconds: seconds,
    burst: z.int().min(1).max(MAX_PER_WINDOW).optional(),
  })
  .refine(({ limit, per_seconds }) => limit / per_seconds <= MAX_PER_SECOND, {
    message: `a rate is at most ${MAX_PER_SECOND} calls in a second`,
  });

export type Rate = z.infer<typeof rateSchema>;

/**
 * Opens for `open_seconds` when this share of the runs of a window has failed. A window begins with its first run and lasts `window_seconds`; then
 * counting begins anew.
 */
export const breakerSchema = z.strictObject({
  failure_rate: z.number().positive().max(1),
  window_seconds: seconds,
  open_seconds: seconds,
});

export type Breaker = z.infer<typeof breakerSchema>;

const MAX_ATTEMPTS = 100;
const MAX_CODES = 64;

/** How often a safe tool is tried, and how long apart: `backoff_seconds` before the second try, then twice as long each time. */
export const retryPolicySchema = z
  .strictObject({
    /** Only failures with these codes; without them those that the error table or the tool itself calls retryable. */
    codes: z.array(z.string().min(1).max(128)).min(1).max(MAX_CODES).optional(),
    attempts: z.int().min(1).max(MAX_ATTEMPTS),
    backoff_seconds: z.number().min(0).max(MAX_SECONDS),
    max_backoff_seconds: z.number().min(0).max(MAX_SECONDS).optional(),
  })
  .refine(({ backoff_seconds, max_backoff_seconds = backoff_seconds }) => max_backoff_seconds >= backoff_seconds, {
    path: ["max_backoff_seconds"],
    message: "must not be below backoff_seconds",
  });

export type RetryPolicy = z.infer<typeof retryPolicySchema>;

/** The tokens of this time go together: smaller pauses between calls are lost in the time that a claim takes. */
const SPREAD_SECONDS = 0.05;

/**
 * How many calls may go at once. Where calls wait (`delay`) they are spread evenly unless the rate says otherwise, so that no second
 * has more than the limit. Where they are refused (`refuse`) a caller may use the limit at once.
 */
export const burstOf = ({ limit, per_seconds, burst }: Rate, how: "delay" | "refuse"): number => {
  if (burst !== undefined) return burst;
  return how === "refuse" ? limit : Math.max(1, Math.floor((limit * SPREAD_SECONDS) / per_seconds));
};

/** The limits of a tool as a person changes them: null takes one away. */
export const toolLimitsSchema = z.strictObject({
  concurrency: concurrencySchema.nullable().optional(),
  rate: rateSchema.nullable().optional(),
  breaker: breakerSchema.nullable().optional(),
  retry_policy: retryPolicySchema.nullable().optional(),
});
