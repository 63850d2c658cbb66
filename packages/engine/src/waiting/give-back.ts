// Gives back calls that were claimed and never started. When the answer to a claim is lost, the claim may have happened or may
// still happen: the database can be working on it while we ask, or be away for a while. No other process knows the claim's id, so
// no call under this id was started. Such calls go back to the queue, those of unsafe tools too, instead of ending as
// outcome_unknown. We ask again until the claim is found or would have lapsed anyway.

import { type Backoff, backoff } from "@toolplane/protocol";
import type { Clock } from "../ports/clock.ts";

export interface GiveBack<Claim> {
  /** Returns at once. */
  giveBack(claim: Claim): void;
  /** Asks a last time for everything that is still looked for. */
  stop(): Promise<void>;
}

export interface GiveBackDeps<Claim> {
  readonly clock: Clock;
  readonly forSeconds: number;
  /** True when it was found, and is given back. */
  readonly ask: (claim: Claim) => Promise<boolean>;
}

// A statement in flight ends within milliseconds; a server that restarts takes seconds.
const PAUSE_MS: Backoff = { first: 50, longest: 1_000 };

export const createGiveBack = <Claim>({ clock, forSeconds, ask }: GiveBackDeps<Claim>): GiveBack<Claim> => {
  const stopping = new AbortController();
  const looking = new Set<Promise<void>>();

  const look = async (claim: Claim): Promise<void> => {
    const end = clock.now() + forSeconds * 1_000;
    for (let looks = 1; clock.now() < end; looks++) {
      await clock.sleep(backoff(PAUSE_MS, looks), stopping.signal);
      if ((await ask(claim).catch(() => false)) || stopping.signal.aborted) return;
    }
  };

  return {
    giveBack(claim) {
      const looked = look(claim).finally(() => looking.delete(looked));
      looking.add(looked);
    },
    async stop() {
      stopping.abort();
      await Promise.all(looking);
    },
  };
};
