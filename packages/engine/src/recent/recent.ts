// What was used most recently, at most so many entries: the caches of an engine.
// lru-cache makes room for `max` entries at once: 1 ms and 170 kB for 10,000 entries, ten times that for the caches of an engine.
// Bounded by size, with every entry of size 1, a cache grows as it is used; reads and writes take the same time.

import { LRUCache } from "lru-cache";

export interface RecentOptions {
  /** Entries that were written longer ago are gone. */
  readonly ttl?: number;
}

const one = (): number => 1;

export const createRecent = <Value extends NonNullable<unknown>>(
  max: number,
  options: RecentOptions = {},
): LRUCache<string, Value> => new LRUCache({ ...options, maxSize: max, sizeCalculation: one });
