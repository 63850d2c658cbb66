// Local timers, passed in so that tests can own them. Deadlines that must survive a process are the database's.

export interface Clock {
  now(): number;
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A fixed abort reason for signals that only end a wait. Without it, every abort would create an error with a stack. */
export const WAIT_OVER = "the wait is over";

/** A JavaScript timer with a longer delay fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(Math.max(ms, 0), MAX_TIMER_MS));
      signal?.addEventListener("abort", done, { once: true });
    }),
};

/** What `inTime` gives instead of an outcome. */
export const LATE: unique symbol = Symbol("late");

/** The outcome of the work, or `LATE` after `ms`: then the work goes on, and its outcome is dropped. Leaves no timer behind. */
export const inTime = async <T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | typeof LATE> => {
  const over = new AbortController();
  try {
    return await Promise.race([work, clock.sleep(ms, over.signal).then((): typeof LATE => LATE)]);
  } finally {
    over.abort(WAIT_OVER);
  }
};
