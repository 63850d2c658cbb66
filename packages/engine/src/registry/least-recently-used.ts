// A map with a limited number of entries; it drops the one that was not used for longest.

export interface LeastRecentlyUsed<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
  clear(): void;
  readonly size: number;
}

export const createLeastRecentlyUsed = <Value extends object>(maxEntries: number): LeastRecentlyUsed<Value> => {
  // A Map lists its keys in order of insertion, so re-inserting on use keeps the oldest first.
  const entries = new Map<string, Value>();
  return {
    get(key) {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size <= maxEntries) return;
      const oldest = entries.keys().next();
      if (oldest.done !== true) entries.delete(oldest.value);
    },
    delete: (key) => {
      entries.delete(key);
    },
    clear: () => entries.clear(),
    get size() {
      return entries.size;
    },
  };
};
