// Waits for something to be over: a call to settle, a turn to end. An end in this process is told directly; after a ring from
// elsewhere one statement asks about all waits, and never more than one is under way.

import { type Clock, createWaker } from "../ports/clock.ts";
import type { Doorbell, DoorbellKind } from "../ports/doorbell.ts";

export interface EndWatch<Key, News = undefined> {
  /** True when it is over, false when the time is up or the signal aborted first. */
  wait(key: Key, waitMs: number, signal?: AbortSignal): Promise<boolean>;
  /** A wait that begins before the thing exists, so that no end can be missed and no question is needed. */
  expect(key: Key): Expectation<News>;
  /** Called after a commit of this process, with what is known of the end. */
  tell(key: Key, news?: News): void;
  waiting(): number;
  close(): void;
}

export interface Expectation<News = undefined> {
  wait(waitMs: number, signal?: AbortSignal): Promise<boolean>;
  /** What was told with the end, if anything was. */
  news(): News | undefined;
  leave(): void;
}

export interface Ended<Key, News> {
  readonly key: Key;
  readonly news?: News | undefined;
}

export interface EndWatchDeps<Key, News = undefined> {
  readonly doorbell: Doorbell;
  readonly clock: Clock;
  /** The bell that rings when one is over elsewhere. */
  readonly rungBy: DoorbellKind;
  readonly nameOf: (key: Key) => string;
  /** Which of these are over, with what is known of their ends. */
  readonly findOver: (keys: readonly Key[]) => Promise<readonly Ended<Key, News>[]>;
}

interface Waiter<Key, News> {
  readonly key: Key;
  readonly tell: (news: News | undefined) => void;
  readonly end: () => void;
}

// A ring may be lost (I13): a wait that takes longer than this is asked about again.
const ASK_AGAIN_MS = 1_000;

export const createEndWatch = <Key, News = undefined>(deps: EndWatchDeps<Key, News>): EndWatch<Key, News> => {
  const { clock, nameOf } = deps;
  const waiters = new Map<string, Set<Waiter<Key, News>>>();
  let asking = false;
  let askAgain = false;
  let closed = false;

  const tell = (key: Key, news?: News): void => {
    for (const waiter of waiters.get(nameOf(key)) ?? []) waiter.tell(news);
  };

  const ask = async (): Promise<void> => {
    if (asking) {
      askAgain = true;
      return;
    }
    asking = true;
    do {
      askAgain = false;
      const keys = [...waiters.values()].flatMap((set) => [...set].slice(0, 1)).map(({ key }) => key);
      if (keys.length === 0) break;
      for (const { key, news } of await deps.findOver(keys).catch(() => [])) tell(key, news);
    } while (askAgain && !closed);
    asking = false;
  };

  const stopListening = deps.doorbell.listen(deps.rungBy, (from) => {
    if (from === "elsewhere" && waiters.size > 0) void ask();
  });

  const expectEnd = (key: Key): Expectation<News> => {
    const over = createWaker();
    let told = false;
    let heard: News | undefined;
    const waiter: Waiter<Key, News> = {
      key,
      tell: (news) => {
        told = true;
        heard ??= news;
        over.wake();
      },
      end: over.wake,
    };
    const name = nameOf(key);
    const set = waiters.get(name) ?? new Set();
    waiters.set(name, set.add(waiter));
    return {
      async wait(waitMs, signal) {
        signal?.addEventListener("abort", waiter.end, { once: true });
        const end = clock.now() + waitMs;
        while (!told && !over.signal.aborted && signal?.aborted !== true && !closed) {
          const left = end - clock.now();
          if (left <= 0) break;
          await clock.sleep(Math.min(left, ASK_AGAIN_MS), over.signal);
          if (!told && !over.signal.aborted) await ask();
        }
        signal?.removeEventListener("abort", waiter.end);
        return told;
      },
      news: () => heard,
      leave() {
        set.delete(waiter);
        if (set.size === 0 && waiters.get(name) === set) waiters.delete(name);
      },
    };
  };

  return {
    expect: expectEnd,
    async wait(key, waitMs, signal) {
      const expectation = expectEnd(key);
      try {
        // Registered first, then asked: an end in between is seen by one of the two.
        await ask();
        return await expectation.wait(waitMs, signal);
      } finally {
        expectation.leave();
      }
    },
    tell,
    waiting: () => waiters.size,
    close() {
      closed = true;
      stopListening();
      for (const set of waiters.values()) for (const waiter of set) waiter.end();
    },
  };
};
