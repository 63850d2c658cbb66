// How long the event loop was blocked: meanwhile no request is answered and no heartbeat heard (SEC-10). The longest pause of the
// last minute is in /health, and a pause that others notice is logged.

import { monitorEventLoopDelay } from "node:perf_hooks";
import { type Clock, type Log, systemClock } from "@toolplane/engine";

/** What is measured, in nanoseconds; the histogram of Node is one. */
export interface PauseSource {
  readonly max: number;
  reset(): void;
}

export interface LoopPauses {
  /** Of the last minute or two, in milliseconds. */
  longestMs(): number;
  stop(): void;
}

export interface LoopPausesOptions {
  readonly log: Log;
  readonly clock?: Clock | undefined;
  readonly source?: (PauseSource & { enable?(): unknown; disable?(): unknown }) | undefined;
}

const RESOLUTION_MS = 10;
const LOOK_EVERY_MS = 5_000;
/** A heartbeat that is late by this much does no harm; longer pauses are logged. */
const WORTH_A_LINE_MS = 250;
/** Looks that are remembered: a minute. */
const REMEMBERED = 12;

export const watchLoop = ({ log, clock = systemClock, ...options }: LoopPausesOptions): LoopPauses => {
  const source = options.source ?? monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const stopping = new AbortController();
  let past: readonly number[] = [];
  source.enable?.();

  // The histogram measures the time between two of its own ticks, so one tick is subtracted.
  const current = (): number => Math.max(0, Math.round(source.max / 1e6) - RESOLUTION_MS);

  const look = (): void => {
    const ms = current();
    source.reset();
    past = [...past, ms].slice(-REMEMBERED);
    if (ms >= WORTH_A_LINE_MS) log.warn("the event loop was blocked", { ms });
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await clock.sleep(LOOK_EVERY_MS, stopping.signal);
      if (!stopping.signal.aborted) look();
    }
  };
  void run();

  return {
    longestMs: () => Math.max(current(), ...past),
    stop() {
      stopping.abort();
      source.disable?.();
    },
  };
};
