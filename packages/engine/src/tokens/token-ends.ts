// Ends waits when their token or browser session ends: an open stream or a long poll must not outlive it. All waits are checked
// together: after a ring of the registry (a token was revoked here or elsewhere), when the next one expires, and every few seconds
// in case a ring was lost (I13).

import { WAIT_OVER } from "../ports/clock.ts";
import type { Ground } from "../ports/ground.ts";
import type { Queryer, Statement } from "../sql/database.ts";

/** A lost ring delays the end of a stream by at most this. */
const LOOK_AGAIN_MS = 5_000;

export interface TokenWatch extends Disposable {
  /** Aborted when the token is revoked or expires, or when the session is over. */
  readonly ended: AbortSignal;
}

export interface Ending {
  readonly id: string;
  readonly expiresAt: Date | null;
}

export interface Ends {
  watch(ending: Ending): TokenWatch;
  close(): void;
}

export interface EndsDeps extends Pick<Ground, "doorbell" | "clock"> {
  readonly db: Queryer;
  /** $1 ids; answers the ids of those that are over. */
  readonly statement: Statement;
}

interface Watcher {
  readonly id: string;
  readonly expiresAt: number;
  readonly over: AbortController;
}

export const createEnds = ({ db, doorbell, clock, statement }: EndsDeps): Ends => {
  const watchers = new Set<Watcher>();
  let next: { readonly at: number; readonly dropped: AbortController } | undefined;
  let looking = false;
  let again = false;

  const forget = (): void => {
    const dropped = next?.dropped;
    next = undefined;
    dropped?.abort(WAIT_OVER);
  };

  const soon = (expiresAt: number): number => Math.min(expiresAt, clock.now() + LOOK_AGAIN_MS);

  /** The next look is no later than this. */
  const lookBy = (at: number): void => {
    if (next !== undefined && next.at <= at) return;
    forget();
    const planned = { at, dropped: new AbortController() };
    next = planned;
    void clock.sleep(Math.max(at - clock.now(), 1), planned.dropped.signal).then(() => {
      // A wait that was ended wakes at once, and has nothing to do.
      if (next !== planned) return;
      next = undefined;
      void look();
    });
  };

  /** One look at a time; any number of rings meanwhile cause one more. */
  const look = async (): Promise<void> => {
    again = true;
    if (looking) return;
    looking = true;
    while (again && watchers.size > 0) {
      again = false;
      const ids = [...new Set([...watchers].map(({ id }) => id))];
      // When the database is away, the next look asks again.
      const rows = await db.query<{ id: string }>(statement, [ids]).catch(() => []);
      const ended = new Set(rows.map(({ id }) => id));
      for (const { id, expiresAt, over } of watchers) if (ended.has(id) || expiresAt <= clock.now()) over.abort();
    }
    looking = false;
    for (const { expiresAt, over } of watchers) if (!over.signal.aborted) lookBy(soon(expiresAt));
  };

  const stopListening = doorbell.listen("registry", () => {
    if (watchers.size > 0) void look();
  });

  return {
    watch({ id, expiresAt }) {
      const watcher = {
        id,
        expiresAt: expiresAt?.getTime() ?? Number.POSITIVE_INFINITY,
        over: new AbortController(),
      };
      watchers.add(watcher);
      lookBy(soon(watcher.expiresAt));
      return {
        ended: watcher.over.signal,
        [Symbol.dispose]: () => {
          watchers.delete(watcher);
          if (watchers.size === 0) forget();
        },
      };
    },
    close() {
      stopListening();
      forget();
      watchers.clear();
    },
  };
};
