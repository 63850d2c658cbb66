// When a breaker, of a tool or of a target, opens and closes. Pure.
//   BK1. Closed: runs are counted in windows. When enough of a window's runs have failed, the breaker opens.
//   BK2. Open: new calls are refused and waiting ones wait. Results of runs that began before change nothing.
//   BK3. When its time is over, one call runs as a trial. A success closes the breaker, a failure opens it for the same time again.
//   BK4. A run counts as failed when the tool or what it needs is broken, not when the tool said no. A call that never ran does not count.

import { type Breaker, ERROR_TABLE, isErrorCode } from "@toolplane/protocol";

export interface BreakerState {
  readonly windowAtMs: number | null;
  readonly successes: number;
  readonly failures: number;
  readonly openedAtMs: number | null;
  readonly openUntilMs: number | null;
}

export interface RunCounts {
  readonly successes: number;
  readonly failures: number;
}

/** Fewer runs say little: with two, one failure would be half of them. */
const LEAST_RUNS = 5;

const FAILED: ReadonlySet<string> = new Set(["failed", "timeout"]);

/** Calls with these codes were not executed. */
const NEVER_RAN: ReadonlySet<string | null> = new Set(["queue_timeout", "approval_denied", "approval_expired"]);
const NOTHING: RunCounts = { successes: 0, failures: 0 };
const SUCCESS: RunCounts = { successes: 1, failures: 0 };
const FAILURE: RunCounts = { successes: 0, failures: 1 };

/** What the end of a call says about its tool. `outcome_unknown`: its service died. A canceled call says nothing. */
export const countRun = (status: string, code: string | null): RunCounts => {
  if (status === "canceled" || NEVER_RAN.has(code)) return NOTHING;
  if (!FAILED.has(status)) return SUCCESS;
  if (code === null || code === "outcome_unknown") return FAILURE;
  return !isErrorCode(code) || ERROR_TABLE[code].retry !== "never" ? FAILURE : SUCCESS;
};

const CLOSED = { openedAtMs: null, openUntilMs: null } as const;

export const planBreaker = (
  state: BreakerState,
  breaker: Breaker,
  { successes, failures }: RunCounts,
  nowMs: number,
): BreakerState => {
  const opened = (since: number): BreakerState => ({
    windowAtMs: null,
    successes: 0,
    failures: 0,
    openedAtMs: since,
    openUntilMs: nowMs + breaker.open_seconds * 1_000,
  });
  if (state.openUntilMs !== null) {
    if (nowMs < state.openUntilMs || successes + failures === 0) return state;
    if (failures > 0) return opened(state.openedAtMs ?? nowMs);
    return { windowAtMs: nowMs, successes, failures: 0, ...CLOSED };
  }
  const isOver = state.windowAtMs === null || nowMs - state.windowAtMs >= breaker.window_seconds * 1_000;
  const counted = {
    windowAtMs: isOver ? nowMs : state.windowAtMs,
    successes: successes + (isOver ? 0 : state.successes),
    failures: failures + (isOver ? 0 : state.failures),
  };
  const runs = counted.successes + counted.failures;
  if (runs >= LEAST_RUNS && counted.failures / runs >= breaker.failure_rate) return opened(nowMs);
  return { ...counted, ...CLOSED };
};
