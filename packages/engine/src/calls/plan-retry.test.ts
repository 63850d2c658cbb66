import type { RetryPolicy } from "@toolplane/protocol";
import { expect, test } from "vitest";
import { planRetry } from "./plan-retry.ts";

const POLICY: RetryPolicy = { attempts: 4, backoff_seconds: 2, max_backoff_seconds: 60 };
const SAFE = { retrySafe: true };

const failed = (code: string, more: object = {}) => ({ status: "failed", error: { code, message: "no", ...more } });

test.each<[string, RetryPolicy | undefined, { retrySafe: boolean }, object, boolean]>([
  ["a code that may pass", POLICY, SAFE, failed("upstream_unavailable"), true],
  ["a timeout", POLICY, SAFE, { ...failed("tool_timeout"), status: "timeout" }, true],
  ["a tool that is not safe", POLICY, { retrySafe: false }, failed("upstream_unavailable"), false],
  ["no policy", undefined, SAFE, failed("upstream_unavailable"), false],
  ["a success", POLICY, SAFE, { status: "success", result: 1 }, false],
  ["canceled", POLICY, SAFE, { ...failed("canceled"), status: "canceled" }, false],
  ["the tool said no", POLICY, SAFE, failed("tool_error"), false],
  ["the tool said no, and that it may pass", POLICY, SAFE, failed("tool_error", { retryable: true }), true],
  ["it will not pass", POLICY, SAFE, failed("rate_limited", { retryable: false }), false],
  [
    "an error that the table calls unsafe, as services write it",
    POLICY,
    SAFE,
    failed("internal_error", { retryable: false }),
    true,
  ],
  ["a code of its own", POLICY, SAFE, failed("odd"), false],
  ["a code of its own that the policy names", { ...POLICY, codes: ["odd"] }, SAFE, failed("odd"), true],
  ["a code that the policy does not name", { ...POLICY, codes: ["odd"] }, SAFE, failed("rate_limited"), false],
  ["an unknown outcome", POLICY, SAFE, failed("outcome_unknown"), false],
  ["an unknown outcome that may pass, it says", POLICY, SAFE, failed("outcome_unknown", { retryable: true }), false],
  [
    "an unknown outcome that an older policy names",
    { ...POLICY, codes: ["outcome_unknown"] },
    SAFE,
    failed("outcome_unknown"),
    false,
  ],
  ["no error at all", POLICY, SAFE, { status: "failed" }, true],
])("[LIM-retry-1] tried again: %s", (_what, policy, facts, given, again) => {
  expect(planRetry(policy, facts, given as { status: unknown }) !== undefined).toBe(again);
});

test("[LIM-retry-1] the pause is never shorter than the other side asked for", () => {
  const plan = (detail: object) => planRetry(POLICY, SAFE, failed("rate_limited", { detail }))?.retryAfterSeconds;
  expect(plan({ retry_after_seconds: 7 })).toBe(7);
  expect(plan({ retry_after_seconds: "soon" })).toBe(0);
  expect(plan({ retry_after_seconds: -1 })).toBe(0);
});
