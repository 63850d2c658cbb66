// A claim's body, by the rules of the real route.

const MAX_CLAIM = 256;
const MAX_WAIT_SECONDS = 60;
const DEFAULT_WAIT_SECONDS = 20;

export interface ReadClaim {
  readonly max: number;
  readonly waitMs: number;
  /** Why the real server would refuse it. */
  readonly fault: string | undefined;
}

const isWholeWithin = (value: number, least: number, most: number): boolean =>
  Number.isInteger(value) && value >= least && value <= most;

export const readClaim = (body: Readonly<Record<string, unknown>>): ReadClaim => {
  const max = body.max ?? 1;
  const wait = body.wait_seconds ?? DEFAULT_WAIT_SECONDS;
  const maxIsGood = typeof max === "number" && isWholeWithin(max, 1, MAX_CLAIM);
  const waitIsGood = typeof wait === "number" && wait >= 0 && wait <= MAX_WAIT_SECONDS;
  return {
    max: maxIsGood ? max : 1,
    waitMs: (waitIsGood ? wait : DEFAULT_WAIT_SECONDS) * 1_000,
    fault: maxIsGood
      ? waitIsGood
        ? undefined
        : `wait_seconds is a number from 0 to ${MAX_WAIT_SECONDS}, not ${JSON.stringify(wait)}`
      : `max is a whole number from 1 to ${MAX_CLAIM}, not ${JSON.stringify(max)}`,
  };
};
