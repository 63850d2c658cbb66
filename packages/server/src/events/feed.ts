// The events of a project for one reader: every evt.* of the log from a position on, and every str.* as it passes; of both, only
// what the reader may see and asked for. A slow reader loses stream items, never events: events are read at its own pace, a bounded
// page at a time. When a reader has missed something, it is told so in words, with what to do about it.

import { createAlarm, createRota, type Engine, type Rota, systemClock } from "@toolplane/engine";
import type { Own } from "../http/own.ts";
import { ownEvents } from "../http/own-events.ts";
import { createWaitingItems } from "../http/waiting-items.ts";
import { type EventFilter, passesFilter } from "./event-filter.ts";
import { createSharedReads, type SharedReads } from "./shared-reads.ts";
import { createSharedStream, readItem, type SharedStream } from "./shared-stream.ts";

export interface FeedEvent {
  readonly subject: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly payload: unknown;
  /** The position after this event; a stream item has none. */
  readonly position?: string;
}

export interface FeedPage {
  readonly events: readonly FeedEvent[];
  /** The log had something: there may be more. */
  readonly isMore: boolean;
  /** Something is missing before these events. */
  readonly gap?: FeedGap | undefined;
}

export interface FeedGap {
  readonly message: string;
  readonly todo: string;
}

export interface EventFeed extends Disposable {
  /** How far this reader has come in the log. */
  position(): string;
  next(): Promise<FeedPage>;
  /** Waits until something happens, or this long. */
  wait(ms: number): Promise<void>;
  /** Ends a wait. */
  readonly ring: () => void;
  /** No stream item has passed since the last page. */
  isQuiet(): boolean;
}

export interface FeedOptions {
  readonly engine: Pick<Engine, "bus" | "events" | "doorbell">;
  readonly projectId: string;
  readonly own: Own;
  /** Undefined: from now on. An id that is not one of ours is refused. */
  readonly after: string | undefined;
  /** Undefined: everything that the reader may see. */
  readonly filter?: EventFilter | undefined;
}

/**
 * The bells after which a feed reads the log. No bell rings for the events of calls alone, so a feed also listens to the bells that other processes
 * ring for calls that wait and for calls that have ended.
 */
const RINGS = ["messages", "events", "queued", "sessions", "settled"] as const;
/** A call that another process hands over rings no bell before it ends. Its first events are found this late at worst. */
const LOOK_AGAIN_MS = 5_000;

const forgotten = (): FeedGap => ({
  message: "events after this id were deleted: they are kept for 7 days",
  todo: "list calls and turns again (GET .../calls, GET .../turns), then go on with the events of this stream",
});

const dropped = (count: number): FeedGap => ({
  message: `${count} stream items were dropped: this reader was slower than they came`,
  todo: "what a turn has said is in its cards (GET .../turns/{id}?detail=full); no event is missing",
});

export const startOf = ({ engine, projectId, after }: Omit<FeedOptions, "own">): Promise<string> =>
  after === undefined ? engine.events.now(projectId) : engine.events.resume(projectId, after);

type Logged = readonly (FeedEvent & { readonly position: string })[];

/** What all feeds of one engine share. */
interface Crowd {
  readonly reads: SharedReads<Logged>;
  readonly stream: SharedStream;
  readonly turns: Rota;
  open: number;
}

// One entry for each engine, kept here because a feed does not know the other feeds.
const crowds = new WeakMap<object, Crowd>();

const crowdOf = ({ events, bus }: Pick<Engine, "events" | "bus">): Crowd => {
  const known = crowds.get(events) ?? {
    reads: createSharedReads<Logged>(),
    stream: createSharedStream(bus),
    turns: createRota(),
    open: 0,
  };
  crowds.set(events, known);
  return known;
};

/** More than a page costs this process, so that many readers together take only a part of its time. */
const MS_PER_READER = 2;

/**
 * Milliseconds that a reader waits between two pages. Few readers do not wait; many wait longer and get larger pages. The pause grows in steps, so
 * that one reader more or less does not change it.
 */
const pauseOf = (readers: number): number =>
  readers <= FEW_READERS ? 0 : Math.ceil(readers / STEP) * STEP * MS_PER_READER;
const STEP = 64;
const FEW_READERS = 16;

/** A reader of a crowd that got more events than this reads again at once, not at the next tick. */
const LARGE_PAGE = 100;

/**
 * Milliseconds until a reader that read last at `readAt` reads again. Many readers read at the same moments, so that one read serves all of
 * them; their writes are spread over time (`createRota`).
 */
const restOf = (readers: number, readAt: number, now: number): number => {
  const pause = pauseOf(readers);
  return pause === 0 ? 0 : Math.max((Math.floor(readAt / pause) + 1) * pause - now, 0);
};

export const openFeed = async (options: FeedOptions): Promise<EventFeed> => {
  const { engine, projectId, own, filter = {} } = options;
  let position = await startOf(options);
  let isForgotten = options.after !== undefined && !(await engine.events.isKept(projectId, position));
  const crowd = crowdOf(engine);
  let readAt = 0;
  /** The log had something: the next look does not wait for a bell. */
  let looksAgain = false;
  const alarm = createAlarm(systemClock);
  const items = createWaitingItems();
  const stopStream = await crowd.stream.listen(projectId, (item) => {
    items.push(item);
    alarm.wake();
  });
  const stopBells = RINGS.map((kind) => engine.doorbell.listen(kind, alarm.wake));
  crowd.open += 1;
  return {
    position: () => position,
    async next() {
      const from = position;
      readAt = systemClock.now();
      const logged = await crowd.reads.read(`${projectId} ${from}`, async () =>
        (await engine.events.read(projectId, from)).map((event) => ({
          ...event,
          payload: JSON.parse(event.payload) as unknown,
        })),
      );
      position = logged.at(-1)?.position ?? position;
      const lost = items.takeDropped();
      if (crowd.open > FEW_READERS) await crowd.turns.take();
      const live = items.takeAll().flatMap((item) => readItem(item) ?? []);
      const wanted = [...logged, ...live].filter((event) => passesFilter(filter, event));
      const events = await ownEvents<FeedEvent>(own, wanted);
      const gap = isForgotten ? forgotten() : lost > 0 ? dropped(lost) : undefined;
      isForgotten = false;
      // A reader of a crowd reads on with the others, at the next tick: alone it would need a read of its own.
      const isCrowd = crowd.open > FEW_READERS;
      looksAgain = isCrowd && logged.length > 0;
      return { events, isMore: logged.length > (isCrowd ? LARGE_PAGE : 0), gap };
    },
    async wait(ms) {
      if (!looksAgain) await alarm.wait(Math.min(ms, LOOK_AGAIN_MS));
      const restMs = restOf(crowd.open, readAt, systemClock.now());
      if (restMs > 0) await systemClock.sleep(restMs);
    },
    ring: alarm.wake,
    isQuiet: items.isEmpty,
    [Symbol.dispose]: () => {
      crowd.open -= 1;
      stopStream();
      for (const stop of stopBells) stop();
    },
  };
};
