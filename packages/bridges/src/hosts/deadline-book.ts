// Many deadlines, one timer. Most calls end long before theirs, so the timer is moved only for an earlier one; when it
// rings, whatever is due is told and it is set for the next.

import type { Timers } from "./timers.ts";

export interface DeadlineBook<Item> {
  /** `at` is on the timers' clock. */
  add(item: Item, at: number): void;
  remove(item: Item): void;
  /** Forgets everything. */
  clear(): void;
}

/** Timers of JavaScript fire at once when asked to wait longer. */
const MAX_WAIT_MS = 2 ** 31 - 1;

class Book<Item> implements DeadlineBook<Item> {
  readonly #timers: Timers;
  readonly #onDue: (item: Item) => void;
  readonly #items = new Map<Item, number>();
  #ringsAt = Number.POSITIVE_INFINITY;
  #callOff: () => void = () => {};

  constructor(timers: Timers, onDue: (item: Item) => void) {
    this.#timers = timers;
    this.#onDue = onDue;
  }

  add(item: Item, at: number): void {
    this.#items.set(item, at);
    if (at < this.#ringsAt) this.#set(at);
  }

  remove(item: Item): void {
    this.#items.delete(item);
  }

  clear(): void {
    this.#items.clear();
    this.#callOff();
    this.#ringsAt = Number.POSITIVE_INFINITY;
  }

  #set(at: number): void {
    this.#callOff();
    this.#ringsAt = at;
    const wait = Math.min(Math.max(at - this.#timers.now(), 0), MAX_WAIT_MS);
    // Rounded up: a timer that rings a fraction early would only be set again.
    this.#callOff = this.#timers.afterQuietly(Math.ceil(wait), this.#ring);
  }

  readonly #ring = (): void => {
    this.#ringsAt = Number.POSITIVE_INFINITY;
    const now = this.#timers.now();
    const due: Item[] = [];
    let next = Number.POSITIVE_INFINITY;
    for (const [item, at] of this.#items) {
      if (at <= now) due.push(item);
      else if (at < next) next = at;
    }
    for (const item of due) this.#items.delete(item);
    if (next < this.#ringsAt) this.#set(next);
    for (const item of due) this.#onDue(item);
  };
}

export const createDeadlineBook = <Item>(timers: Timers, onDue: (item: Item) => void): DeadlineBook<Item> =>
  new Book(timers, onDue);
