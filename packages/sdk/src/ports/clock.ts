// Time as a parameter: a test moves it by hand, a program uses the system's.

export interface Clock {
  /** Milliseconds; only differences and comparisons with this clock's own values mean anything. */
  now(): number;
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The reason of signals that only end a wait: without one, each would make an error with a stack that nobody reads. */
export const WAIT_OVER = "the wait is over";

/** Timers of JavaScript fire at once when asked to wait longer. */
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
