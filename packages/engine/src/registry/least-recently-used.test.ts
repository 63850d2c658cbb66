import fc from "fast-check";
import { expect, test } from "vitest";
import { createLeastRecentlyUsed } from "./least-recently-used.ts";

test("the one nobody asked for longest goes first", () => {
  const cache = createLeastRecentlyUsed<{ n: number }>(2);
  cache.set("a", { n: 1 });
  cache.set("b", { n: 2 });
  expect(cache.get("a")).toEqual({ n: 1 });
  cache.set("c", { n: 3 });
  expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual([{ n: 1 }, undefined, { n: 3 }]);
  cache.delete("a");
  expect(cache.size).toBe(1);
  cache.clear();
  expect(cache.size).toBe(0);
});

test("it never holds more than it may, and what it gives is what was put last", () => {
  const step = fc.record({ key: fc.constantFrom("a", "b", "c", "d", "e"), write: fc.boolean() });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 60 }), (max, steps) => {
      const cache = createLeastRecentlyUsed<{ n: number }>(max);
      const last = new Map<string, number>();
      const recent: string[] = [];
      const touch = (key: string): void => {
        const at = recent.indexOf(key);
        if (at >= 0) recent.splice(at, 1);
        recent.push(key);
        recent.splice(0, recent.length - max);
      };
      for (const [n, { key, write }] of steps.entries()) {
        if (write) {
          cache.set(key, { n });
          last.set(key, n);
          touch(key);
        } else {
          expect(cache.get(key)?.n).toBe(recent.includes(key) ? last.get(key) : undefined);
          if (recent.includes(key)) touch(key);
        }
        expect(cache.size).toBe(recent.length);
      }
    }),
  );
});
