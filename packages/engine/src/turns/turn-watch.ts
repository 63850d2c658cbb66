// Those who wait for turns to end. Turns that end in this process are told directly; after a ring from elsewhere one
// statement asks about everybody who waits, and never more than one is under way.

import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Queryer } from "../sql/database.ts";
import type { TurnKey } from "./turn.ts";
import { bindTurnKeys, READ_ENDED } from "./turn-reads.sql.ts";

export interface TurnWatch {
  /** True when the turn has ended, false when the time is up or the signal aborted first. */
  wait(key: TurnKey, waitMs: number, signal?: AbortSignal): Promise<boolean>;
  ended(key: TurnKey): void;
  close(): void;
}

interface Waiter {
  readonly key: TurnKey;
  readonly over: AbortController;
  told: boolean;
}

// A ring may be lost (I13): whoever waits longer than this is asked about again.
const ASK_AGAIN_MS = 1_000;

const nameOf = (key: TurnKey): string => `${key.projectId}/${key.agentTurnId}`;

export const createTurnWatch = (deps: {
  readonly db: Queryer;
  readonly doorbell: Doorbell;
  readonly clock: Clock;
}): TurnWatch => {
  const waiters = new Map<string, Set<Waiter>>();
  let asking = false;
  let askAgain = false;
  let closed = false;

  const ended = (key: TurnKey): void => {
    for (const waiter of waiters.get(nameOf(key)) ?? []) {
      waiter.told = true;
      waiter.over.abort();
    }
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
      const rows = await deps.db.query<{ ord: number }>(READ_ENDED, bindTurnKeys(keys)).catch(() => []);
      for (const { ord } of rows) {
        const key = keys[ord - 1];
        if (key !== undefined) ended(key);
      }
    } while (askAgain && !closed);
    asking = false;
  };

  // The end of a turn is an event, and events ring.
  const stopListening = deps.doorbell.listen("messages", (from) => {
    if (from === "elsewhere" && waiters.size > 0) void ask();
  });

  const join = (key: TurnKey): { readonly waiter: Waiter; readonly leave: () => void } => {
    const waiter: Waiter = { key, over: new AbortController(), told: false };
    const name = nameOf(key);
    const set = waiters.get(name) ?? new Set();
    waiters.set(name, set.add(waiter));
    return {
      waiter,
      leave: () => {
        set.delete(waiter);
        if (set.size === 0 && waiters.get(name) === set) waiters.delete(name);
      },
    };
  };

  return {
    async wait(key, waitMs, signal) {
      const { waiter, leave } = join(key);
      const give = (): void => waiter.over.abort();
      signal?.addEventListener("abort", give, { once: true });
      const end = deps.clock.now() + waitMs;
      try {
        // Registered first, then asked: an end in between is seen by one of the two.
        await ask();
        while (!waiter.told && !waiter.over.signal.aborted && signal?.aborted !== true && !closed) {
          const left = end - deps.clock.now();
          if (left <= 0) break;
          await deps.clock.sleep(Math.min(left, ASK_AGAIN_MS), waiter.over.signal);
          if (!waiter.told && !waiter.over.signal.aborted) await ask();
        }
        return waiter.told;
      } finally {
        signal?.removeEventListener("abort", give);
        leave();
      }
    },
    ended,
    close() {
      closed = true;
      stopListening();
      for (const set of waiters.values()) for (const { over } of set) over.abort();
    },
  };
};
