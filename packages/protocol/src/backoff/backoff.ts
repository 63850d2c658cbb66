// How long to wait before the next try: twice as long after each failure, up to a longest wait.

export interface Backoff {
  /** The wait after the first failure, in any unit of time. */
  readonly first: number;
  readonly longest: number;
}

/** Keeps the number finite; every longest wait is reached before. */
const MAX_DOUBLINGS = 30;

/**
 * `failures` counts from 1. With `random`, a number in [0, 1), the wait lies between half and all of that time: many
 * processes that lost the same server then do not come back in the same millisecond.
 */
export const backoff = ({ first, longest }: Backoff, failures: number, random?: () => number): number => {
  const wait = Math.min(longest, first * 2 ** Math.min(Math.max(failures - 1, 0), MAX_DOUBLINGS));
  return random === undefined ? wait : Math.round((wait / 2) * (1 + random()));
};
