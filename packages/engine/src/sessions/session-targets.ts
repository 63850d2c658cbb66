// Where calls of sessions wait, as far as this process knows, so that claims look for them only there.
//   A pair of (project, target) that has had some is claimed by the statement that takes them. If it is dropped from memory, its
//   next look shows them again.
//   A pair where a look found none is quiet: services in its line need not look for sessions until a ring says that there are
//   some, or until a lost ring would have been made up for (I13). A ring during a look counts more than what the look saw.

import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import { createRecent } from "../recent/recent.ts";

export interface TargetKey {
  readonly projectId: string;
  readonly target: string;
}

export const targetKey = ({ projectId, target }: TargetKey): string => `${projectId}/${target}`;

/** When a look began. */
export interface Look {
  readonly at: number;
  readonly rings: number;
}

export interface SessionTargets {
  knows(key: TargetKey): boolean;
  learn(key: TargetKey): void;
  look(): Look;
  /** A look found no calls of sessions there. */
  hush(key: TargetKey, look: Look): void;
  isQuiet(key: TargetKey): boolean;
  close(): void;
}

/** More targets than one process serves. */
const MAX_REMEMBERED = 1_024;

/** As often as the first in line looks by itself. */
const QUIET_MS = 1_000;

export const createSessionTargets = (deps: { readonly doorbell: Doorbell; readonly clock: Clock }): SessionTargets => {
  const known = createRecent<TargetKey>(MAX_REMEMBERED);
  const quiet = createRecent<Look>(MAX_REMEMBERED);
  let rings = 0;
  const close = deps.doorbell.listen("sessions", () => {
    rings++;
  });
  return {
    knows: (key) => known.get(targetKey(key)) !== undefined,
    learn: (key) => known.set(targetKey(key), key),
    look: () => ({ at: deps.clock.now(), rings }),
    hush: (key, look) => quiet.set(targetKey(key), look),
    isQuiet(key) {
      const look = quiet.get(targetKey(key));
      if (look === undefined || look.rings !== rings) return false;
      // When the clock was set back, the age is unknown.
      const age = deps.clock.now() - look.at;
      return age >= 0 && age < QUIET_MS;
    },
    close,
  };
};
