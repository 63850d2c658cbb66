// Waits for something in what a program says. The test that reads the output calls `heard` when there is more, and `over` when the program
// has ended.

import { ToolplaneError } from "@toolplane/protocol";

export interface OutputWatch {
  heard(): void;
  over(): void;
  /** Resolves when `found` gives something; fails with all that was said when the program ends first or the time is up. */
  until<Value>(what: string, found: () => Value | undefined, timeoutMs: number): Promise<Value>;
}

export const watchOutput = (said: () => string): OutputWatch => {
  const watchers = new Set<() => void>();
  let ended = false;
  const heard = (): void => {
    for (const look of [...watchers]) look();
  };
  return {
    heard,
    over: () => {
      ended = true;
      heard();
    },
    until: (what, found, timeoutMs) =>
      new Promise((resolve, reject) => {
        const finish = (settle: () => void): void => {
          clearTimeout(timer);
          watchers.delete(look);
          settle();
        };
        const fail = (why: string): void =>
          finish(() => reject(new ToolplaneError("tool_timeout", `${why} ${what}; it said:\n${said()}`)));
        const look = (): void => {
          const value = found();
          if (value !== undefined) finish(() => resolve(value));
          else if (ended) fail("the program ended without");
        };
        const timer = setTimeout(() => fail(`waited ${timeoutMs} ms for`), timeoutMs);
        watchers.add(look);
        look();
      }),
  };
};
