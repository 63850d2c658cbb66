// Many deadlines, one timer. Most calls end long before their deadline, so nothing is kept per call: the timer is moved only for
// an earlier deadline; when it fires, the open calls are looked through and it is set for the next deadline.

import type { Timers } from "./timers.ts";

export interface Dated {
  /** On the timers' clock. */
  readonly deadlineAt: number;
}

export interface DeadlineBook {
  /** There is something with this deadline now. */
  note(at: number): void;
  close(): void;
}

/** A JavaScript timer with a longer delay fires at once. */
const MAX_WAIT_MS = 2 ** 31 - 1;

export const createDeadlineBook = <Item extends Dated>(
  timers: Timers,
  /** Everything that is open. */
  list: () => Iterable<Item>,
  onDue: (item: Item) => void,
): DeadlineBook => {
  let ringsAt = Number.POSITIVE_INFINITY;
  let callOff = (): void => {};

  const set = (at: number): void => {
    callOff();
    ringsAt = at;
    const wait = Math.min(Math.max(at - timers.now(), 0), MAX_WAIT_MS);
    // Rounded up: a timer that fires a fraction early would only have to be set again.
    callOff = timers.afterQuietly(Math.ceil(wait), ring);
  };

  const ring = (): void => {
    ringsAt = Number.POSITIVE_INFINITY;
    const now = timers.now();
    const due: Item[] = [];
    let next = Number.POSITIVE_INFINITY;
    for (const item of list()) {
      if (item.deadlineAt <= now) due.push(item);
      else if (item.deadlineAt < next) next = item.deadlineAt;
    }
    if (next < ringsAt) set(next);
    for (const item of due) onDue(item);
  };

  return {
    note: (at) => {
      if (at < ringsAt) set(at);
    },
    close: () => {
      callOff();
      ringsAt = Number.NEGATIVE_INFINITY;
    },
  };
};
