// A client of the engine asks again while the database is away. Every other error is an answer.

import { type Clock, isAway, systemClock } from "@toolplane/engine";

const PAUSE_MS = 25;

/** Repeats what is safe to repeat while the database is away; undefined when the signal ended it. */
export const insist = async <T>(
  work: () => Promise<T>,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<T | undefined> => {
  while (!signal.aborted) {
    try {
      return await work();
    } catch (error) {
      if (!isAway(error)) throw error;
      await clock.sleep(PAUSE_MS, signal);
    }
  }
  return undefined;
};
