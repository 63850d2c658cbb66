// How far the database's clock is ahead of this process's. Leases end on the database's clock; a service reckons on its
// own. On one machine the two are the same; with a server elsewhere they are compared now and then.

import type { Clock } from "@toolplane/engine";

export interface ClockOffset {
  /** Database time minus local time, in milliseconds, as last measured. Never waits. */
  aheadMs(): number;
  measure(): Promise<void>;
}

export const NO_OFFSET: ClockOffset = { aheadMs: () => 0, measure: async () => undefined };

/** Clocks drift by milliseconds an hour; they are set by hand now and then. */
const MEASURE_EVERY_MS = 60_000;

export const createClockOffset = (databaseNow: () => Promise<number>, clock: Clock): ClockOffset => {
  let aheadMs = 0;
  let measuredAt = Number.NEGATIVE_INFINITY;
  let measuring: Promise<void> | undefined;

  const measure = async (): Promise<void> => {
    const before = clock.now();
    const theirs = await databaseNow();
    const after = clock.now();
    // The answer was written somewhere between question and arrival.
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
      // A database that is away is the business of whoever needs it.
      if (clock.now() - measuredAt > MEASURE_EVERY_MS) measureOnce().catch(() => {});
      return aheadMs;
    },
    measure: measureOnce,
  };
};
