// Time as a parameter, in the form a supervisor needs: many timers that are usually canceled.

export interface Timers {
  /** Milliseconds; only differences mean anything. */
  now(): number;
  /** Runs once after `ms`; the returned function cancels it. */
  after(ms: number, run: () => void): () => void;
  /** The same for housekeeping: such a timer does not keep a program alive. */
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
