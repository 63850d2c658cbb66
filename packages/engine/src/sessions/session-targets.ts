// Which (project, target) pairs have had calls of sessions: those are claimed by the statement that looks for them. A pair
// that is forgotten is learnt again by its next claim, which then takes two statements once.

import { createLeastRecentlyUsed } from "../registry/least-recently-used.ts";

export interface TargetKey {
  readonly projectId: string;
  readonly target: string;
}

export interface SessionTargets {
  knows(key: TargetKey): boolean;
  learn(key: TargetKey): void;
}

/** As many targets as one process can sensibly serve. */
const MAX_REMEMBERED = 1_024;

export const createSessionTargets = (): SessionTargets => {
  const known = createLeastRecentlyUsed<TargetKey>(MAX_REMEMBERED);
  const keyOf = ({ projectId, target }: TargetKey): string => `${projectId}/${target}`;
  return {
    knows: (key) => known.get(keyOf(key)) !== undefined,
    learn: (key) => known.set(keyOf(key), key),
  };
};
