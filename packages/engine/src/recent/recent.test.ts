import { expect, test } from "vitest";
import { createRecent } from "./recent.ts";

test("keeps so many entries, and lets go of the one that was used longest ago", () => {
  const recent = createRecent<number>(2);
  recent.set("a", 1);
  recent.set("b", 2);
  expect(recent.get("a")).toBe(1);
  recent.set("c", 3);
  recent.set("c", 4);
  expect([...recent.entries()]).toEqual([
    ["c", 4],
    ["a", 1],
  ]);
});

test("is bounded by size: lru-cache makes room for as many entries as `max` says", () => {
  expect(createRecent<number>(10_000)).toMatchObject({ max: 0, maxSize: 10_000 });
});
