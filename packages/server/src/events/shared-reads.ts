// Reads that many readers ask for at the same moment, done once. A bell wakes all readers of a project, and most of them stand at the
// same place of the log.
//   SR1. A read is shared only by readers that asked before it began: a read that is under way may have begun before the event that
//        woke the reader. Readers that ask meanwhile share the next one.
//   SR2. Only a few reads go on at once: a thousand readers at different places of the log do not take the connections of the calls.

export interface SharedReads<Value> {
  read(key: string, load: () => Promise<Value>): Promise<Value>;
}

interface Reading<Value> {
  readonly current: Promise<Value>;
  /** Begins when the current one has ended. */
  next: Promise<Value> | undefined;
}

/** Fewer than the connections of the smallest pool. */
const MOST_AT_ONCE = 3;

export const createSharedReads = <Value>(): SharedReads<Value> => {
  const readings = new Map<string, Reading<Value>>();
  const waiting: (() => void)[] = [];
  let reading = 0;

  const inTurn = async (load: () => Promise<Value>): Promise<Value> => {
    if (reading >= MOST_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
    else reading += 1;
    try {
      return await load();
    } finally {
      // The place is handed on: the count stays.
      const next = waiting.shift();
      if (next === undefined) reading -= 1;
      else next();
    }
  };

  const begin = (key: string, load: () => Promise<Value>): Promise<Value> => {
    const current = inTurn(load);
    const reading: Reading<Value> = { current, next: undefined };
    readings.set(key, reading);
    const end = (): void => {
      if (reading.next === undefined && readings.get(key) === reading) readings.delete(key);
    };
    current.then(end, end);
    return current;
  };

  return {
    read(key, load) {
      const reading = readings.get(key);
      if (reading === undefined) return begin(key, load);
      reading.next ??= reading.current.then(
        () => begin(key, load),
        () => begin(key, load),
      );
      return reading.next;
    },
  };
};
