// Where services of one target run different definitions, as during the rollout of a tool. There each service takes the calls of
// its own definitions first; everywhere else claims need not look at definitions at all.
//   A target is mixed while two services with different lists were seen within the last minute, or a service got a call of a
//   definition it did not name. The second shows services that ask another process.

import { createRecent } from "../recent/recent.ts";
import { type TargetKey, targetKey } from "../sessions/session-targets.ts";

export interface ServedVersions {
  /** A service that runs these definitions asks for work. */
  saw(key: TargetKey, definitions: readonly string[] | undefined): void;
  /** A service took calls; whether it named their definitions. */
  took(key: TargetKey, definitions: readonly string[] | undefined, hashes: readonly string[]): void;
  isMixed(key: TargetKey): boolean;
}

/** In place of a list: the service runs every definition, as the plane's own services do. */
export const EVERY_DEFINITION = "*";

/** As long as a service counts as one that asks for work. */
const RECENT_MS = 60_000;
/** More targets than one process serves. */
const MAX_TARGETS = 1_024;
/** More lists than a rollout has; the oldest is dropped. */
const MAX_LISTS = 8;

interface Seen {
  readonly lists: Map<string, number>;
  mixedUntil: number;
}

export const createServedVersions = (now: () => number): ServedVersions => {
  const targets = createRecent<Seen>(MAX_TARGETS);
  const find = (served: TargetKey): Seen => {
    const key = targetKey(served);
    const known = targets.get(key);
    if (known !== undefined) return known;
    const fresh: Seen = { lists: new Map(), mixedUntil: 0 };
    targets.set(key, fresh);
    return fresh;
  };
  return {
    saw(key, definitions) {
      if (definitions === undefined) return;
      const { lists } = find(key);
      const list = [...definitions].sort().join(",");
      lists.delete(list);
      lists.set(list, now());
      const [oldest] = lists.keys();
      if (lists.size > MAX_LISTS && oldest !== undefined) lists.delete(oldest);
    },
    took(key, definitions, hashes) {
      if (definitions === undefined || definitions.includes(EVERY_DEFINITION)) return;
      if (hashes.some((hash) => !definitions.includes(hash))) find(key).mixedUntil = now() + RECENT_MS;
    },
    isMixed(key) {
      const seen = find(key);
      const since = now() - RECENT_MS;
      return seen.mixedUntil > now() || [...seen.lists.values()].filter((at) => at > since).length > 1;
    },
  };
};
