// The turns of many who want to work at once, such as readers that are woken by the same bell. Writing to five hundred readers at once
// would hold up everything else of the process for tens of milliseconds; so a few have their turn, then other work has its own, then
// the next few.

import { setImmediate as breathe } from "node:timers/promises";

export interface Rota {
  /** Resolves when it is the caller's turn. */
  take(): Promise<void>;
}

/** Some milliseconds of work. */
const AT_ONCE = 16;

export const createRota = (atOnce = AT_ONCE): Rota => {
  const waiting: (() => void)[] = [];
  let left = atOnce;
  let isBooked = false;

  const release = (): void => {
    isBooked = false;
    left = atOnce;
    for (const go of waiting.splice(0, atOnce)) {
      left -= 1;
      go();
    }
    if (left < atOnce) book();
  };
  /** After what the process has to do besides. */
  const book = (): void => {
    if (isBooked) return;
    isBooked = true;
    void breathe().then(release);
  };

  return {
    async take() {
      book();
      if (left > 0 && waiting.length === 0) left -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
};
