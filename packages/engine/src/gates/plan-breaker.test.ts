import { expect, test } from "vitest";
import { type BreakerState, countRun, planBreaker } from "./plan-breaker.ts";

const BREAKER = { failure_rate: 0.5, window_seconds: 10, open_seconds: 30 };
const CLOSED: BreakerState = { windowAtMs: null, successes: 0, failures: 0, openedAtMs: null, openUntilMs: null };
const OPEN: BreakerState = { ...CLOSED, openedAtMs: 1_000, openUntilMs: 31_000 };

test.each<[string, BreakerState, [number, number], number, Partial<BreakerState>]>([
  ["the first runs open a window", CLOSED, [2, 1], 5_000, { windowAtMs: 5_000, successes: 2, failures: 1 }],
  ["few runs do not open it", CLOSED, [0, 4], 5_000, { failures: 4, openUntilMs: null }],
  [
    "enough failures do",
    { ...CLOSED, windowAtMs: 1, successes: 2, failures: 2 },
    [0, 1],
    5_000,
    { openedAtMs: 5_000, openUntilMs: 35_000, failures: 0 },
  ],
  [
    "too few failures do not",
    { ...CLOSED, windowAtMs: 1, successes: 4, failures: 2 },
    [0, 1],
    5_000,
    { openUntilMs: null, failures: 3 },
  ],
  [
    "a new window forgets the old one",
    { ...CLOSED, windowAtMs: 1, successes: 0, failures: 4 },
    [0, 1],
    10_001,
    { windowAtMs: 10_001, failures: 1, openUntilMs: null },
  ],
  ["while it is open nothing counts", OPEN, [3, 3], 30_999, OPEN],
  ["a trial that succeeds closes it", OPEN, [1, 0], 31_000, { openUntilMs: null, openedAtMs: null, failures: 0 }],
  [
    "a trial that fails keeps it open, since the same time",
    OPEN,
    [0, 1],
    40_000,
    { openedAtMs: 1_000, openUntilMs: 70_000 },
  ],
])("[LIM-break-1] %s", (_what, state, [successes, failures], nowMs, expected) => {
  expect(planBreaker(state, BREAKER, { successes, failures }, nowMs)).toMatchObject(expected);
});

test.each([
  ["success", null, "success"],
  ["partial", null, "success"],
  ["failed", "tool_error", "success"],
  ["failed", "bad_request", "success"],
  ["failed", "internal_error", "failure"],
  ["failed", "upstream_unavailable", "failure"],
  ["failed", "a_code_of_its_own", "failure"],
  ["failed", "outcome_unknown", "failure"],
  ["timeout", "tool_timeout", "failure"],
  ["timeout", "queue_timeout", "nothing"],
  ["failed", "approval_denied", "nothing"],
  ["timeout", "approval_expired", "nothing"],
  ["canceled", "canceled", "nothing"],
] as const)("[LIM-break-1] a call that ended as %s %s counts as %s", (status, code, counts) => {
  expect(countRun(status, code)).toEqual({
    successes: counts === "success" ? 1 : 0,
    failures: counts === "failure" ? 1 : 0,
  });
});
