// How far the database's clock is ahead of this process's. Leases end on the database's clock; a service uses its own. On one
// machine the two are the same; with a database elsewhere they are compared from time to time.

import type { Clock } from "@toolplane/engine";

export interface ClockOffset {
  /** Database time minus local time, in milliseconds, as last measured. Never waits. */
  aheadMs(): number;
  measure(): Promise<void>;
}

export const NO_OFFSET: ClockOffset = { aheadMs: () => 0, measure: async () => undefined };

/** Clocks drift by milliseconds an hour, and people set them by hand from time to time. */
const MEASURE_EVERY_MS = 60_000;

export const createClockOffset = (databaseNow: () => Promise<number>, clock: Clock): ClockOffset => {
  let aheadMs = 0;
  let measuredAt = Number.NEGATIVE_INFINITY;
  let measuring: Promise<void> | undefined;

  const measure = async (): Promise<void> => {
    const before = clock.now();
    const theirs = await databaseNow();
    const after = clock.now();
    // The answer's time lies somewhere between question and arrival.
    aheadMs = Math.round(theirs - (before + after) / 2);
    measuredAt = after;
  };
  const measureOnce = (): Promise<void> => {
    measuring ??= measure().finally(() => {
      measuring = undefined;
    });
    return measuring;
  };

  return {
    aheadMs() {
      // When the database is away, callers that need it report that.
      if (clock.now() - measuredAt > MEASURE_EVERY_MS) measureOnce().catch(() => {});
      return aheadMs;
    },
    measure: measureOnce,
  };
};
