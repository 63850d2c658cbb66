// Lossy streams (B15). Subscribers of this process get an item at once. For other processes it goes through an UNLOGGED table
// behind a buffer that drops items when it is full, so that publishing never waits for the database. A process that is alone on
// its database (DB5) writes nothing.
//
// Readers remember the snapshot up to which they have read and ask for what is not in it. Continuing from an id would lose items
// that a slower process commits with smaller ids.

import { type BusStats, checkStreamItem, type StreamItem } from "@toolplane/bus";
import { matchesPattern, parsePattern, type SubjectPattern } from "@toolplane/protocol";
import { createCoalescer } from "../coalescer/coalescer.ts";
import type { Ground } from "../ports/ground.ts";
import type { Queryer } from "../sql/database.ts";
import type { BusDoorbell } from "./postgres-doorbell.ts";
import {
  INSERT_STREAM_ITEMS,
  READ_STREAM_ITEMS,
  STREAM_NOW,
  type StreamRow,
  streamInput,
  TRIM_STREAM_ITEMS,
} from "./streams.sql.ts";

export interface StreamsDeps extends Pick<Ground, "clock" | "log"> {
  readonly db: Queryer;
  readonly doorbell: BusDoorbell;
  /** Tells this bus's own items from those of others. */
  readonly origin: string;
}

export interface Streams {
  publish(item: StreamItem): void;
  subscribe(pattern: string, handler: (item: StreamItem) => void): Promise<() => void>;
  stats(): Omit<BusStats, "published">;
  close(): Promise<void>;
}

interface Subscriber {
  readonly pattern: SubjectPattern;
  readonly handler: (item: StreamItem) => void;
}

/** Items that wait to be written; when the database is further behind, items are dropped. */
const MAX_WAITING = 4096;
/** The newest items that a reader takes at once; older ones are no longer of interest. */
const READ_LIMIT = 2000;
/** Readers come within milliseconds of the bell; a minute also spans a reconnect. */
const KEEP_MS = 60_000;
const TRIM_EVERY_MS = 10_000;
const TRIM_LIMIT = 10_000;

export const createStreams = ({ db, doorbell, clock, log, origin }: StreamsDeps): Streams => {
  const subscribers = new Set<Subscriber>();
  let snapshot: string | undefined;
  let reading: Promise<void> | undefined;
  let readAgain = false;
  let ringingMyself = false;
  let closed = false;
  let streamItems = 0;
  let streamItemsDropped = 0;
  let trimmedAt = clock.now();

  const emit = (item: StreamItem): void => {
    for (const { pattern, handler } of [...subscribers]) {
      if (!matchesPattern(pattern, item.subject)) continue;
      try {
        handler(item);
      } catch (error) {
        log.warn("a reader of a stream threw an error; it misses this item", {
          subject: item.subject,
          cause: String(error),
        });
      }
    }
  };

  const trim = async (): Promise<void> => {
    if (clock.now() - trimmedAt < TRIM_EVERY_MS) return;
    trimmedAt = clock.now();
    await db.query(TRIM_STREAM_ITEMS, [KEEP_MS, TRIM_LIMIT]);
  };

  const ringOthers = (): void => {
    ringingMyself = true;
    doorbell.ring("streams");
    ringingMyself = false;
  };

  const writer = createCoalescer<StreamItem, undefined>({
    // One at a time, so that the items of one process stay in order.
    inFlight: 1,
    bytesOf: ({ subject, payload }) => subject.length + payload.length,
    flush: async (items) => {
      try {
        await db.query(INSERT_STREAM_ITEMS, [...streamInput.bind(items), origin]);
        ringOthers();
        await trim();
      } catch {
        streamItemsDropped += items.length;
      }
      return items.map(() => undefined);
    },
  });

  const readOnce = async (): Promise<void> => {
    if (snapshot === undefined) {
      const [now] = await db.query<{ snapshot: string }>(STREAM_NOW);
      snapshot = now?.snapshot;
      return;
    }
    const rows = await db.query<StreamRow>(READ_STREAM_ITEMS, [snapshot, origin, READ_LIMIT]);
    snapshot = rows[0]?.snapshot ?? snapshot;
    for (const { id, subject, payload } of rows) if (id !== null) emit({ subject, payload });
  };

  const read = (): Promise<void> => {
    readAgain = true;
    reading ??= (async () => {
      try {
        while (readAgain && !closed) {
          readAgain = false;
          await readOnce();
        }
      } catch {
        // The next ring, or the ring after a reconnect, continues from the same snapshot.
        log.warn("streams of other processes could not be read");
      } finally {
        reading = undefined;
      }
    })();
    return reading;
  };

  const stopListening = doorbell.listen("streams", () => {
    if (!ringingMyself && subscribers.size > 0) void read();
  });

  return {
    publish(item) {
      checkStreamItem(item);
      if (closed) return;
      streamItems++;
      emit(item);
      if (doorbell.stats().alone) return;
      if (writer.stats().waiting >= MAX_WAITING) streamItemsDropped++;
      else void writer.submit(item);
    },
    async subscribe(pattern, handler) {
      const subscriber = { pattern: parsePattern(pattern), handler };
      const first = subscribers.size === 0;
      subscribers.add(subscriber);
      if (first) {
        // Begins now, not where an earlier subscriber stopped.
        snapshot = undefined;
        await read();
      }
      return () => {
        subscribers.delete(subscriber);
      };
    },
    stats: () => ({ streamItems, streamItemsDropped }),
    async close() {
      await writer.idle();
      closed = true;
      stopListening();
      subscribers.clear();
      await reading;
    },
  };
};
