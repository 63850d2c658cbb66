// How far the plane's clock is ahead of ours. Each answer says the plane's time, but also took its way, and lay unread if this process
// stood still (suspended, a blocked event loop): that makes the plane's clock seem to be behind. So the answer that puts it
// furthest ahead is the truest. A lease that came with an answer which lay unread then is what it is: nearly over, or over.
// Only answers of the last minutes count, because the plane's clock may be set. When ours was set, what was known counts no more.

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
