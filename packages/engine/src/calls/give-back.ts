// Giving back what nobody started. A claim whose answer was lost may have happened, or may still happen: the server can be
// at work on it while we ask what it took, or be away until after it has recovered. Nobody else knows its lease id, so
// whatever carries it was not started: it goes back to the queue, unsafe tools too, instead of lapsing into
// outcome_unknown. Asked again and again until it is found or the lease would have lapsed anyway.

import { type Backoff, backoff } from "@toolplane/protocol";
import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Database } from "../sql/database.ts";
import { GIVE_BACK } from "./lease.sql.ts";

export interface GiveBack {
  /** Returns at once. */
  giveBack(leaseIds: readonly string[]): void;
  /** Asks a last time for everything that is still looked for. */
  stop(): Promise<void>;
}

export interface GiveBackDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly doorbell: Doorbell;
  readonly leaseSeconds: number;
  readonly republishSeconds: number | null;
}

// A statement in flight ends within milliseconds; a server that restarts takes seconds.
const PAUSE_MS: Backoff = { first: 50, longest: 1_000 };

export const createGiveBack = ({ db, clock, doorbell, leaseSeconds, republishSeconds }: GiveBackDeps): GiveBack => {
  const stopping = new AbortController();
  const looking = new Set<Promise<void>>();

  const ask = async (leaseIds: readonly string[]): Promise<boolean> => {
    const rows = await db.query(GIVE_BACK, [leaseIds, republishSeconds]).catch(() => []);
    if (rows.length > 0) doorbell.ring("sessions");
    if (rows.length > 0) doorbell.ring("events", "here");
    return rows.length > 0;
  };

  const look = async (leaseIds: readonly string[]): Promise<void> => {
    const end = clock.now() + leaseSeconds * 1_000;
    for (let looks = 1; clock.now() < end; looks++) {
      await clock.sleep(backoff(PAUSE_MS, looks), stopping.signal);
      if ((await ask(leaseIds)) || stopping.signal.aborted) return;
    }
  };

  return {
    giveBack(leaseIds) {
      const looked = look(leaseIds).finally(() => looking.delete(looked));
      looking.add(looked);
    },
    async stop() {
      stopping.abort();
      await Promise.all(looking);
    },
  };
};
