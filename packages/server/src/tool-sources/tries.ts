// Tries to bring a configured source of tools up, with growing pauses, until it is up, is hopeless or is stopped. No failure leaves
// this file: the source says what became of it.

import { type Backoff, backoff } from "@toolplane/protocol";
import type { Clock } from "@toolplane/sdk";

export interface Tries {
  /** Resolves when the first try has ended, well or not. */
  readonly tried: Promise<void>;
  /** Resolves when there is nothing more to try. */
  readonly ended: Promise<void>;
  /** Tells the running try to stop; resolves when it has. */
  stop(): Promise<void>;
}

export interface TriesOptions {
  readonly attempt: (stop: AbortSignal) => Promise<void>;
  /** Hears of every failure, except after `stop`. `over`: another try would fail in the same way. */
  readonly failed: (error: unknown) => "again" | "over";
  readonly pause: Backoff;
  readonly clock: Clock;
}

export const startTries = ({ attempt, failed, pause, clock }: TriesOptions): Tries => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const first = Promise.withResolvers<void>();

  const tryOnce = async (): Promise<"done" | "again" | "over"> => {
    try {
      await attempt(signal);
      return "done";
    } catch (error) {
      return signal.aborted ? "over" : failed(error);
    } finally {
      first.resolve();
    }
  };

  const live = async (): Promise<void> => {
    for (let tries = 1; !signal.aborted && (await tryOnce()) === "again"; tries += 1)
      await clock.sleep(backoff(pause, tries), signal);
  };

  const ended = live();
  return {
    tried: first.promise,
    ended,
    stop() {
      stopping.abort();
      return ended;
    },
  };
};
