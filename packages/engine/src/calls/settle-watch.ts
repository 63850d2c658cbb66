// Those who wait for results. Settlements of this process are told directly; after a ring from elsewhere one statement
// asks about everybody who waits, and never more than one is under way.

import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Queryer } from "../sql/database.ts";
import { type CallKey, callKey } from "./call.ts";
import { bindKeys, READ_SETTLED } from "./read.sql.ts";

export interface SettleWatch {
  /** True when the call has settled, false when the time is up or the signal aborted first. */
  wait(key: CallKey, waitMs: number, signal?: AbortSignal): Promise<boolean>;
  /** A place taken before the call exists, so that no settlement can be missed and nobody need ask. */
  expect(key: CallKey): Expectation;
  /** Called after a commit of this process. */
  settled(key: CallKey): void;
  waiting(): number;
  close(): void;
}

export interface Expectation {
  wait(waitMs: number, signal?: AbortSignal): Promise<boolean>;
  leave(): void;
}

interface Waiter {
  readonly key: CallKey;
  readonly tell: () => void;
  readonly end: () => void;
}

// A ring may be lost (I13): whoever waits longer than this is asked about again.
const ASK_AGAIN_MS = 1_000;

export const createSettleWatch = (deps: {
  readonly db: Queryer;
  readonly doorbell: Doorbell;
  readonly clock: Clock;
}): SettleWatch => {
  const waiters = new Map<string, Set<Waiter>>();
  let asking = false;
  let askAgain = false;
  let closed = false;

  const settled = (key: CallKey): void => {
    for (const waiter of waiters.get(callKey(key)) ?? []) waiter.tell();
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
      const rows = await deps.db.query<{ ord: number }>(READ_SETTLED, bindKeys(keys)).catch(() => []);
      for (const { ord } of rows) {
        const key = keys[ord - 1];
        if (key !== undefined) settled(key);
      }
    } while (askAgain && !closed);
    asking = false;
  };

  const stopListening = deps.doorbell.listen("settled", (from) => {
    if (from === "elsewhere") void ask();
  });

  const expectSettlement = (key: CallKey): Expectation => {
    const over = new AbortController();
    let told = false;
    const waiter: Waiter = {
      key,
      tell: () => {
        told = true;
        over.abort();
      },
      end: () => over.abort(),
    };
    const name = callKey(key);
    const set = waiters.get(name) ?? new Set();
    waiters.set(name, set.add(waiter));
    const leave = (): void => {
      set.delete(waiter);
      if (set.size === 0 && waiters.get(name) === set) waiters.delete(name);
    };
    const wait = async (waitMs: number, signal?: AbortSignal): Promise<boolean> => {
      signal?.addEventListener("abort", waiter.end, { once: true });
      const end = deps.clock.now() + waitMs;
      while (!told && !over.signal.aborted && !signal?.aborted && !closed) {
        const left = end - deps.clock.now();
        if (left <= 0) break;
        await deps.clock.sleep(Math.min(left, ASK_AGAIN_MS), over.signal);
        if (!told && !over.signal.aborted) await ask();
      }
      signal?.removeEventListener("abort", waiter.end);
      return told;
    };
    return { wait, leave };
  };

  return {
    expect: expectSettlement,
    async wait(key, waitMs, signal) {
      const expectation = expectSettlement(key);
      try {
        // Registered first, then asked: a settlement in between is seen by one of the two.
        await ask();
        return await expectation.wait(waitMs, signal);
      } finally {
        expectation.leave();
      }
    },
    settled,
    waiting: () => waiters.size,
    close: () => {
      closed = true;
      stopListening();
      for (const set of waiters.values()) for (const waiter of set) waiter.end();
    },
  };
};
