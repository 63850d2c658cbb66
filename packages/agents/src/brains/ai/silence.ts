// Notices a silent endpoint. The time counts from the last sign of life, not from the start: a long answer that keeps coming is
// never cut off.

import type { Clock } from "@toolplane/sdk";

export interface SilenceWatch {
  /** Aborts when it was silent for too long. */
  readonly signal: AbortSignal;
  alive(): void;
  /** Stops the watch; the signal will not abort any more. */
  end(): void;
}

export const watchSilence = (clock: Clock, maxMs: number): SilenceWatch => {
  const silent = new AbortController();
  const over = new AbortController();
  let last = clock.now();
  /** When the system clock is set back, the count begins again. */
  const quietMs = (): number => {
    last = Math.min(last, clock.now());
    return clock.now() - last;
  };
  const watch = async (): Promise<void> => {
    for (let left = maxMs; left > 0; left = maxMs - quietMs()) {
      await clock.sleep(left, over.signal);
      if (over.signal.aborted) return;
    }
    silent.abort();
  };
  void watch();
  return {
    signal: silent.signal,
    alive: () => {
      last = clock.now();
    },
    end: () => over.abort(),
  };
};
