// Writing through a database that is away for a moment. A brain's answer may have cost minutes and money, so it is not dropped
// for a reconnect; every write of a turn may be repeated (T4).

import { type Clock, isAway } from "@toolplane/engine";

/** About seven seconds in all: a failover of a database, shorter than a claim. */
const PAUSES_MS = [50, 200, 500, 1_000, 2_000, 3_000];

export const persist = async <T>(clock: Clock, signal: AbortSignal, write: () => Promise<T>): Promise<T> => {
  for (const pause of PAUSES_MS) {
    try {
      return await write();
    } catch (error) {
      if (!isAway(error) || signal.aborted) throw error;
      await clock.sleep(pause, signal);
    }
  }
  return write();
};
