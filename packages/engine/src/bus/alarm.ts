// How an idle loop waits: until it is woken, or for a while. A wake that comes while the loop does not wait is kept, so that a
// ring between "nothing there" and "now I wait" is not lost.

import { type Clock, createWaker } from "../ports/clock.ts";

export interface Alarm {
  wake(): void;
  /** Drops a kept wake: called before looking, it saves a second look. */
  rest(): void;
  wait(ms: number): Promise<void>;
}

export const createAlarm = (clock: Clock): Alarm => {
  let rung = false;
  let ring: (() => void) | undefined;

  return {
    wake() {
      rung = true;
      ring?.();
    },
    rest() {
      rung = false;
    },
    async wait(ms) {
      const waiting = createWaker();
      ring = waiting.wake;
      if (!rung) await clock.sleep(ms, waiting.signal);
      ring = undefined;
      rung = false;
    },
  };
};
