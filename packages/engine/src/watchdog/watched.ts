// How long this process has looked at due calls without a pause. It counts as away when it has just started, when its database did not answer, and
// when it stood still itself. What services reported in such a time did not arrive.

import type { Clock } from "../ports/clock.ts";

/** Many times the pause between two looks. */
const LONGEST_PAUSE_MS = 5_000;

export interface Watched {
  /** Before a look. */
  seconds(): number;
  /** After a look that succeeded. */
  looked(): void;
}

export const createWatched = (clock: Pick<Clock, "now">): Watched => {
  let since = clock.now();
  let last = since;
  return {
    seconds: () => {
      const now = clock.now();
      if (now - last > LONGEST_PAUSE_MS) since = now;
      return (now - since) / 1_000;
    },
    looked: () => {
      last = clock.now();
    },
  };
};
