// A claim's body, by the limits of the real route. A wrong one is served all the same, with its fault for the judges (XP1).

import { MAX_CLAIM, waitSeconds } from "../../gateway/claim-calls.ts";

const DEFAULT_WAIT_SECONDS = 20;

export interface ReadClaim {
  readonly max: number;
  readonly waitMs: number;
  /** Why the real server would refuse it. */
  readonly fault: string | undefined;
}

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= MAX_CLAIM;

export const readClaim = (body: Readonly<Record<string, unknown>>): ReadClaim => {
  const max = body.max ?? 1;
  const wait = body.wait_seconds ?? DEFAULT_WAIT_SECONDS;
  const readWait = waitSeconds.safeParse(wait);
  const faults = [
    ...(isCount(max) ? [] : [`max is a whole number from 1 to ${MAX_CLAIM}, not ${JSON.stringify(max)}`]),
    ...(readWait.success
      ? []
      : [`wait_seconds is a number from 0 to ${waitSeconds.maxValue}, not ${JSON.stringify(wait)}`]),
  ];
  return {
    max: isCount(max) ? max : 1,
    waitMs: (readWait.data ?? DEFAULT_WAIT_SECONDS) * 1_000,
    fault: faults[0],
  };
};
