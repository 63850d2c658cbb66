// The coalescer: callers see a function of one item, the database sees one set per flush.
//
// While a flush is in flight, new items wait; when a slot is free, all waiting items go together. No timers: a lone item is sent
// at once, and batches grow as fast as the database is slow.
//   C1. At most one item per key in a flush (a set-based UPDATE applies one row per target); further ones go with the next flush.
//   C2. A flush is capped by count and by bytes; at most `inFlight` flushes run at once. Many waiting items are split among the
//       free slots: callers that were answered together ask again together, and in one flush this process and the database would
//       wait for each other (256 in flight, 2 busy cores: 1.4 times the calls per second, for 1.2 times the CPU).
//   C3. A flush that fails as a whole is run again item by item, so that a bad item fails alone. When the database itself is
//       away, the first item shows it, and the rest fail with it instead of each waiting for its own timeout. A lone item is run
//       again only when the database did not answer: the first run may have been carried out, and the second then finds its rows.
//   C4. Items of one key keep their order: the next one is sent when the one before it is answered.
//   C5. The items of a flush are ordered by key: all flushes, here and in other processes, lock rows in the same order, so two
//       of them never deadlock.
//   C6. Groups of items, where there are any, take turns (group-lines.ts). Items of one key are of one group.

import { ToolplaneError } from "@toolplane/protocol";
import { isAway } from "../sql/database-error.ts";
import { createGroupLines } from "./group-lines.ts";

export interface CoalescerOptions<Item, Outcome> {
  /** One transaction for all items; an outcome per item, in order. An outcome that is an Error rejects its caller. */
  readonly flush: (items: readonly Item[]) => Promise<readonly (Outcome | Error)[]>;
  readonly keyOf?: (item: Item) => string;
  /** Whose item it is, for instance its project: no group waits for all that another one sent before it. */
  readonly groupOf?: (item: Item) => string;
  readonly bytesOf?: (item: Item) => number;
  readonly maxItems?: number;
  readonly maxBytes?: number;
  readonly inFlight?: number;
}

export interface CoalescerStats {
  readonly waiting: number;
  readonly inFlight: number;
  readonly flushes: number;
  readonly items: number;
  readonly rescued: number;
}

export interface Coalescer<Item, Outcome> {
  submit(item: Item): Promise<Outcome>;
  /** Resolves when nothing waits and nothing is in flight. */
  idle(): Promise<void>;
  stats(): CoalescerStats;
}

interface Entry<Item, Outcome> {
  readonly item: Item;
  readonly key: string | undefined;
  readonly bytes: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

// 256 calls of a few kB each keep a statement below a few milliseconds of parsing.
const DEFAULT_MAX_ITEMS = 256;
const DEFAULT_MAX_BYTES = 4 * 1024 * 1024;

const ONE_GROUP = "";

// Errors that the server reports about one statement: a deadlock, a lock timeout. Such an item fails alone.
const ITS_OWN_TROUBLE = new Set(["40001", "40P01", "55P03", "57014"]);

const isAwayForAll = (error: unknown): boolean =>
  isAway(error) && !ITS_OWN_TROUBLE.has(String((error as ToolplaneError).detail?.sqlstate));

// From this many items on, the fixed cost of a statement (some 0.2 ms) is small compared with its rows, even when they are
// halved.
const WORTH_SHARING = 128;

/** How many waiting items a flush takes when so many slots are free. */
const shareOf = (count: number, free: number): number =>
  count < WORTH_SHARING ? count : Math.ceil(count / Math.max(free, 1));

const byKey = (a: { readonly key: string | undefined }, b: { readonly key: string | undefined }): number =>
  a.key === b.key ? 0 : (a.key ?? "") < (b.key ?? "") ? -1 : 1;

export const createCoalescer = <Item, Outcome>(options: CoalescerOptions<Item, Outcome>): Coalescer<Item, Outcome> => {
  const { flush, keyOf, groupOf, bytesOf } = options;
  const maxItems = options.maxItems ?? DEFAULT_MAX_ITEMS;
  const maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
  const maxInFlight = options.inFlight ?? 2;
  const busyKeys = new Set<string>();
  const line = createGroupLines<Entry<Item, Outcome>>();
  let inFlight = 0;
  let scheduled = false;
  let flushes = 0;
  let items = 0;
  let rescued = 0;
  let idleWaiters: (() => void)[] = [];

  const isReady = ({ key }: Entry<Item, Outcome>): boolean => key === undefined || !busyKeys.has(key);

  /** Empty only while all waiting items have keys in flight. */
  const take = (): Entry<Item, Outcome>[] => {
    const taken: Entry<Item, Outcome>[] = [];
    let bytes = 0;
    const most = Math.min(maxItems, shareOf(line.waiting, maxInFlight - inFlight));
    line.drain(isReady, (entry) => {
      if (taken.length >= most || (taken.length > 0 && bytes + entry.bytes > maxBytes)) return false;
      if (entry.key !== undefined) busyKeys.add(entry.key);
      bytes += entry.bytes;
      taken.push(entry);
      return true;
    });
    return taken.sort(byKey);
  };

  const answer = (entries: readonly Entry<Item, Outcome>[], outcomes: readonly (Outcome | Error)[]): void => {
    for (const [index, entry] of entries.entries()) {
      const outcome = outcomes[index];
      if (outcome instanceof Error) entry.reject(outcome);
      else if (outcome === undefined && index >= outcomes.length)
        entry.reject(new ToolplaneError("internal_error", "a flush gave fewer outcomes than items"));
      else entry.resolve(outcome as Outcome);
    }
  };

  const runSingly = async (entries: readonly Entry<Item, Outcome>[]): Promise<void> => {
    for (const [index, entry] of entries.entries()) {
      rescued++;
      try {
        answer([entry], await flush([entry.item]));
      } catch (error) {
        entry.reject(error);
        if (!isAwayForAll(error)) continue;
        for (const rest of entries.slice(index + 1)) rest.reject(error);
        return;
      }
    }
  };

  const run = async (entries: Entry<Item, Outcome>[]): Promise<void> => {
    flushes++;
    items += entries.length;
    try {
      answer(entries, await flush(entries.map((entry) => entry.item)));
    } catch (error) {
      if (entries.length === 1 && !isAway(error)) entries[0]?.reject(error);
      else await runSingly(entries);
    }
  };

  const pump = (): void => {
    scheduled = false;
    while (inFlight < maxInFlight && line.waiting > 0) {
      const entries = take();
      if (entries.length === 0) return;
      inFlight++;
      void run(entries).finally(() => {
        inFlight--;
        for (const { key } of entries) if (key !== undefined) busyKeys.delete(key);
        if (line.waiting > 0) pump();
        else if (inFlight === 0) for (const wake of idleWaiters.splice(0)) wake();
      });
    }
  };

  return {
    submit(item) {
      return new Promise<Outcome>((resolve, reject) => {
        const entry = { item, key: keyOf?.(item), bytes: bytesOf?.(item) ?? 0, resolve, reject };
        line.push(groupOf?.(item) ?? ONE_GROUP, entry);
        // At the end of this tick, so that items submitted together are sent together.
        if (!scheduled && inFlight < maxInFlight) {
          scheduled = true;
          queueMicrotask(pump);
        }
      });
    },
    idle() {
      if (line.waiting === 0 && inFlight === 0 && !scheduled) return Promise.resolve();
      return new Promise((resolve) => {
        idleWaiters = [...idleWaiters, resolve];
      });
    },
    stats: () => ({ waiting: line.waiting, inFlight, flushes, items, rescued }),
  };
};
