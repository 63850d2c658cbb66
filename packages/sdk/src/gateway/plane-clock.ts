// How far the plane's clock is ahead of this process's clock. Each answer says the plane's time. But an answer takes time to arrive, and it lies
// unread while this process stands still (suspended, a blocked event loop), so the plane's clock seems to be behind. Therefore the answer that puts
// the plane furthest ahead is the best one. So the remaining time of a lease whose answer lay unread is known: it is nearly over, or over.
// Only answers of the last minutes count, because the plane's clock may be set. When this process's clock was set, earlier answers no longer count.

const WINDOW_MS = 300_000;
/** How much more a clock that is set may move than one that cannot be. */
const STEP_MS = 1_000;

export interface PlaneClock {
  /** Milliseconds, with an answer that came at `now` and says that the plane's time is `theirs`. */
  ahead(theirs: number, now: number): number;
}

/** `steadyMs`: a clock that nobody sets. */
export const createPlaneClock = (steadyMs: () => number = () => performance.now()): PlaneClock => {
  let since: number | undefined;
  let difference: number | undefined;
  let best = Number.NEGATIVE_INFINITY;
  let bestBefore = Number.NEGATIVE_INFINITY;
  return {
    ahead(theirs, now) {
      since ??= now;
      const apart = now - steadyMs();
      const wasSet = difference !== undefined && Math.abs(apart - difference) > STEP_MS;
      difference = apart;
      if (now - since >= WINDOW_MS || wasSet) {
        bestBefore = now - since >= 2 * WINDOW_MS || wasSet ? Number.NEGATIVE_INFINITY : best;
        best = Number.NEGATIVE_INFINITY;
        since = now;
      }
      best = Math.max(best, theirs - now);
      return Math.max(best, bestBefore);
    },
  };
};
