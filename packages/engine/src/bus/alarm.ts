// How a loop with nothing to do waits: until somebody wakes it, or for a while. A wake that comes while nobody waits is
// kept, so that a ring between "nothing there" and "now I wait" is not lost.

import { type Clock, WAIT_OVER } from "../ports/clock.ts";

export interface Alarm {
  wake(): void;
  /** Forgets a kept wake: called before looking, it saves a second look. */
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
      const waiting = new AbortController();
      ring = () => {
        waiting.abort(WAIT_OVER);
      };
      if (!rung) await clock.sleep(ms, waiting.signal);
      ring = undefined;
      rung = false;
    },
  };
};
