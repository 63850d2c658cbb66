// Time as a parameter: a test moves it by hand, a program uses the system's.

export interface Clock {
  /** Milliseconds; only differences and comparisons with this clock's own values mean anything. */
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
