// Waiting for evidence. The writer of evidence notifies; each waiter then looks again. Every wait is bounded.

export interface Watch {
  /** Something new may be true. */
  changed(): void;
  /** Whether it became true before the time was up. */
  until(isTrue: () => boolean, withinMs: number): Promise<boolean>;
}

export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

export const createWatch = (sleep: Sleep): Watch => {
  const waiting = new Set<() => void>();
  return {
    changed() {
      for (const look of [...waiting]) look();
    },
    async until(isTrue, withinMs) {
      if (isTrue()) return true;
      const over = new AbortController();
      let look = (): void => {};
      const seen = new Promise<boolean>((resolve) => {
        look = () => {
          if (isTrue()) resolve(true);
        };
        waiting.add(look);
      });
      try {
        return await Promise.race([seen, sleep(withinMs, over.signal).then(() => isTrue())]);
      } finally {
        waiting.delete(look);
        over.abort();
      }
    },
  };
};
