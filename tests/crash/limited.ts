// Runs many pieces of work a few at a time; each result is a promise a test can wait for.

export const runLimited = <Key, Result>(
  keys: readonly Key[],
  limit: number,
  work: (key: Key) => Promise<Result>,
): ReadonlyMap<Key, Promise<Result>> => {
  const waiting: (() => void)[] = [];
  let free = limit;
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
  const run = async (key: Key): Promise<Result> => {
    await enter();
    try {
      return await work(key);
    } finally {
      leave();
    }
  };
  const results = new Map(keys.map((key) => [key, run(key)]));
  // Whoever waits for it sees the failure; until then it is nobody's.
  for (const result of results.values()) result.catch(() => undefined);
  return results;
};
