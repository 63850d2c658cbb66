// Tells when a service of an engine waits for work and has seen its queue empty. A call that comes then is handed over; one that comes
// earlier goes through the queue and costs a claim more.

import type { Engine } from "@toolplane/engine";
import { until } from "../guarded-leftovers.ts";

export interface WatchedService {
  /** Resolves when a service that has asked since the watch began rests in line. */
  atRest(): Promise<void>;
}

export const watchService = ({ calls }: Engine): WatchedService => {
  const { claim } = calls;
  let waiting = 0;
  const watched: Pick<Engine["calls"], "claim"> = {
    claim: async (...request) => {
      waiting++;
      try {
        return await claim(...request);
      } finally {
        waiting--;
      }
    },
  };
  Object.assign(calls, watched);
  return {
    atRest: () => until("a service to rest in line", () => waiting > 0 && calls.stats().claim?.inFlight === 0),
  };
};
