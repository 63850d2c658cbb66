// Time as a parameter, in the form a supervisor needs it: many waits that are usually called off.

export interface Timers {
  /** Milliseconds; only differences mean anything. */
  now(): number;
  /** Runs once after `ms`; the returned function calls it off. */
  after(ms: number, run: () => void): () => void;
  /** The same for what is only housekeeping: it keeps no program alive. */
  afterQuietly(ms: number, run: () => void): () => void;
}

export const systemTimers: Timers = {
  now: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  afterQuietly: (ms, run) => {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
