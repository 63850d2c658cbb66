// Ends waits when their token ends: an open stream or a long poll must not outlive its token. All waits are checked together:
// after a ring of the registry (a token was revoked here or elsewhere), when the next token expires, and every few seconds in
// case a ring was lost (I13).

import { type Clock, WAIT_OVER } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Queryer } from "../sql/database.ts";
import { READ_ENDED_TOKENS } from "./tokens.sql.ts";

/** A lost ring delays the end of a stream by at most this. */
const LOOK_AGAIN_MS = 5_000;

export interface TokenWatch extends Disposable {
  /** Aborted when the token is revoked or expires. */
  readonly ended: AbortSignal;
}

export interface EndingToken {
  readonly tokenId: string;
  readonly expiresAt: Date | null;
}

export interface TokenEnds {
  watch(token: EndingToken): TokenWatch;
  close(): void;
}

export interface TokenEndsDeps {
  readonly db: Queryer;
  readonly doorbell: Doorbell;
  readonly clock: Clock;
}

interface Watcher {
  readonly tokenId: string;
  readonly expiresAt: number;
  readonly over: AbortController;
}

export const createTokenEnds = ({ db, doorbell, clock }: TokenEndsDeps): TokenEnds => {
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
      const ids = [...new Set([...watchers].map(({ tokenId }) => tokenId))];
      // When the database is away, the next look asks again.
      const rows = await db.query<{ token_id: string }>(READ_ENDED_TOKENS, [ids]).catch(() => []);
      const over = new Set(rows.map(({ token_id }) => token_id));
      for (const { tokenId, expiresAt, over: token } of watchers)
        if (over.has(tokenId) || expiresAt <= clock.now()) token.abort();
    }
    looking = false;
    for (const { expiresAt, over } of watchers) if (!over.signal.aborted) lookBy(soon(expiresAt));
  };

  const stopListening = doorbell.listen("registry", () => {
    if (watchers.size > 0) void look();
  });

  return {
    watch({ tokenId, expiresAt }) {
      const watcher = {
        tokenId,
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
