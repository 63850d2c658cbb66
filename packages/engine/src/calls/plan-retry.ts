// Whether a failed attempt is tried again, by the retry policy of its tool. Pure; the database counts the attempts.
//   RP1. Only a tool that says `retry: safe`, only under a lease, and only for results given in one step: a card that was written stands.
//   RP2. The codes of the policy decide. A policy without codes repeats what the error table or the tool itself calls retryable. When the tool
//        says nothing, its service writes `retryable` from the table: false for codes of kind `unsafe`, which only tools that may run twice can
//        try again. Such a false counts here as unsaid, because the tool of a policy may run twice.
//        `outcome_unknown` is never tried again, whatever the policy or the tool says: the work may have been done.
//   RP3. The pause grows from `backoff_seconds`, twice as long each time, and is never shorter than the other side asked for.
//        The statement computes it (`PAUSE` in retry.sql.ts), because the database counts the attempts.

import { ERROR_TABLE, isErrorCode, isRecord, mayHelp, type RetryPolicy } from "@toolplane/protocol";
import type { CallFacts } from "./call.ts";
import type { GivenResult } from "./plan-settlement.ts";

export interface RetryPlan {
  readonly code: string;
  readonly maxAttempts: number;
  readonly backoffSeconds: number;
  readonly maxBackoffSeconds: number;
  /** What the other side asked for. */
  readonly retryAfterSeconds: number;
}

const FAILED: ReadonlySet<unknown> = new Set(["failed", "timeout"]);

const askedSeconds = (error: Readonly<Record<string, unknown>>): number => {
  const detail = isRecord(error.detail) ? error.detail : {};
  const seconds = detail.retry_after_seconds ?? error.retry_after_seconds;
  return typeof seconds === "number" && Number.isFinite(seconds) && seconds > 0 ? seconds : 0;
};

/** The longest pause before a retry, as in the schema of a policy. A longer one that the other side asked for is shortened to this. */
const LONGEST_SECONDS = 7 * 86_400;

const saidBy = (code: string, retryable: unknown): unknown =>
  retryable === false && isErrorCode(code) && ERROR_TABLE[code].retry === "unsafe" ? undefined : retryable;

export const planRetry = (
  policy: RetryPolicy | undefined,
  facts: Pick<CallFacts, "retrySafe">,
  given: GivenResult,
): RetryPlan | undefined => {
  if (policy === undefined || !facts.retrySafe || !FAILED.has(given.status)) return undefined;
  const error = isRecord(given.error) ? given.error : {};
  const code = typeof error.code === "string" ? error.code : "unknown_error";
  if (code === "outcome_unknown") return undefined;
  if (!(policy.codes?.includes(code) ?? mayHelp(code, saidBy(code, error.retryable)))) return undefined;
  return {
    code,
    maxAttempts: policy.attempts,
    backoffSeconds: policy.backoff_seconds,
    maxBackoffSeconds: policy.max_backoff_seconds ?? LONGEST_SECONDS,
    retryAfterSeconds: Math.min(askedSeconds(error), LONGEST_SECONDS),
  };
};
