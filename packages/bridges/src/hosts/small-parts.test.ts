// The queue, the deadlines, the globs and the limits.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDeadlineBook } from "./deadline-book.ts";
import { createHostLimits, DEFAULT_HOST_LIMITS, type HostLimits } from "./host-limits.ts";
import { createRequestIds } from "./request-ids.ts";
import { createRetrySafe } from "./retry-safe.ts";
import { createTaskQueue } from "./task-queue.ts";

describe("queue", () => {
  test("behaves like a list, whatever is done to it", () => {
    const step = fc.oneof(
      fc.record({ do: fc.constantFrom("push", "pushFront", "remove"), item: fc.nat(20) }),
      fc.record({ do: fc.constantFrom("shift", "takeAll"), item: fc.constant(0) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const queue = createTaskQueue<number>();
        let model: number[] = [];
        for (const { do: what, item } of steps) {
          if (what === "push") {
            queue.push(item);
            model.push(item);
          } else if (what === "pushFront") {
            queue.pushFront(item);
            model.unshift(item);
          } else if (what === "remove") {
            const index = model.indexOf(item);
            expect(queue.remove(item)).toBe(index >= 0);
            if (index >= 0) model.splice(index, 1);
          } else if (what === "shift") {
            expect(queue.shift()).toBe(model.shift());
          } else {
            expect(queue.takeAll()).toEqual(model);
            model = [];
          }
          expect([queue.length, queue.list()]).toEqual([model.length, model]);
        }
      }),
    );
  });

  test("a long one is taken from the front without being copied each time", () => {
    const queue = createTaskQueue<number>();
    for (let i = 0; i < 5_000; i += 1) queue.push(i);
    for (let i = 0; i < 5_000; i += 1) expect(queue.shift()).toBe(i);
    expect(queue.shift()).toBeUndefined();
  });
});

describe("deadlines", () => {
  test("[HOST-4-10] each is told once, when it is due and not before, with one timer", () => {
    let now = 0;
    let timer: { at: number; run: () => void } | undefined;
    const timers = {
      now: () => now,
      after: () => () => undefined,
      afterQuietly: (ms: number, run: () => void) => {
        const set = { at: now + ms, run };
        timer = set;
        return () => {
          if (timer === set) timer = undefined;
        };
      },
    };
    const items = new Set<{ deadlineAt: number }>();
    const told: number[] = [];
    const book = createDeadlineBook(
      timers,
      () => items,
      (item) => {
        told.push(item.deadlineAt);
        items.delete(item);
      },
    );
    for (const deadlineAt of [50, 30, 70, 30]) {
      items.add({ deadlineAt });
      book.note(deadlineAt);
    }
    const advance = (to: number): void => {
      while (timer !== undefined && timer.at <= to) {
        now = timer.at;
        const { run } = timer;
        timer = undefined;
        run();
      }
      now = to;
    };
    advance(29);
    expect(told).toEqual([]);
    advance(30);
    expect(told).toEqual([30, 30]);
    advance(100);
    expect(told).toEqual([30, 30, 50, 70]);
    expect(timer).toBeUndefined();
  });
});

describe("retry safe", () => {
  test.each<[readonly string[], string, boolean]>([
    [[], "a", false],
    [["*"], "anything", true],
    [["get_*"], "get_word", true],
    [["get_*"], "forget_it", false],
    [["*_word"], "get_word", true],
    [["a*b*c"], "aXbYc", true],
    [["a*b*c"], "aXbY", false],
    [["exact"], "exact", true],
    [["exact"], "exactly", false],
    [["a.c"], "abc", false],
    [["none", "w*"], "word", true],
  ])("[HOST-4-8] %j on %s", (globs, name, expected) => {
    const isSafe = createRetrySafe(globs);
    expect([isSafe(name), isSafe(name)]).toEqual([expected, expected]);
  });

  test("no glob is slow", () => {
    const began = process.cpuUsage();
    expect(createRetrySafe([`${"*a".repeat(40)}b`])("a".repeat(5_000))).toBe(false);
    expect(process.cpuUsage(began).user).toBeLessThan(1_000_000);
  });
});

describe("request ids", () => {
  test("[HOST-4-13] are random, and no two are the same", () => {
    const newId = createRequestIds();
    const ids = Array.from({ length: 5_000 }, newId);
    expect(new Set(ids).size).toBe(5_000);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{24}$/);
  });
});

describe("limits", () => {
  test("[HOST-4-3] every limit has a default and an option", () => {
    expect(createHostLimits()).toEqual(DEFAULT_HOST_LIMITS);
    expect(DEFAULT_HOST_LIMITS).toMatchObject({
      lineBytes: 16 * 1024 * 1024,
      startupMs: 10_000,
      callMs: 30_000,
      breakerCrashes: 5,
      breakerWindowMs: 60_000,
      helloMs: 1_000,
    });
    for (const name of Object.keys(DEFAULT_HOST_LIMITS) as (keyof HostLimits)[]) {
      expect(createHostLimits({ [name]: 7 })[name]).toBe(7);
    }
  });

  test.each([
    { pool: 0 },
    { inFlight: Number.NaN },
    { startupMs: -1 },
    { lineBytes: Number.POSITIVE_INFINITY },
    { nonsense: 1 },
  ])("%j is refused by name", (given) => {
    expect(() => createHostLimits(given)).toThrow(Object.keys(given)[0]);
  });
});
