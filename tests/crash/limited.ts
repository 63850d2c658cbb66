// Runs many pieces of work a few at a time; each result is a promise a test can wait for. A piece that hangs is a failure
// that says so, and when as many have hung as may run at once nothing else is begun: a whole run is never long.

import { UsageError } from "@toolplane/protocol";

export interface Limits {
  /** Pieces at once. */
  readonly atOnce: number;
  /** How long a piece may take. Most of one is the start of a process and some lapsed leases: seconds. */
  readonly pieceMs?: number;
}

const PIECE_MS = 90_000;

/** The signal ends with the piece's time, so that what it waits for can be ended too. */
export const runLimited = <Key extends string, Result>(
  keys: readonly Key[],
  { atOnce, pieceMs = PIECE_MS }: Limits,
  work: (key: Key, signal: AbortSignal) => Promise<Result>,
): ReadonlyMap<Key, Promise<Result>> => {
  const waiting: (() => void)[] = [];
  const hung: Key[] = [];
  let free = atOnce;
  const enter = (): Promise<void> =>
    new Promise((resolve) => {
      if (free > 0) {
        free -= 1;
        resolve();
      } else waiting.push(resolve);
    });
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  const inTime = async (key: Key): Promise<Result> => {
    if (hung.length >= atOnce) throw new UsageError(`${key} was not begun: ${hung.join(" and ")} did not end`);
    const over = new AbortController();
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      hung.push(key);
      late.reject(new UsageError(`${key} did not end within ${pieceMs / 1000} s`));
      over.abort();
    }, pieceMs);
    try {
      return await Promise.race([work(key, over.signal), late.promise]);
    } finally {
      clearTimeout(timer);
    }
  };
  const run = async (key: Key): Promise<Result> => {
    await enter();
    try {
      return await inTime(key);
    } finally {
      leave();
    }
  };
  const results = new Map(keys.map((key) => [key, run(key)]));
  // The waiting test sees the failure; before that it is not an unhandled rejection.
  for (const result of results.values()) result.catch(() => undefined);
  return results;
};
