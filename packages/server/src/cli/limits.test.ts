import { expect, test } from "vitest";
import { readLimits } from "./limits.ts";
import { WrongUsage } from "./wrong-usage.ts";

test.each([
  [{}, {}],
  [{ concurrency: "20" }, { concurrency: 20 }],
  [
    { rate: "50/1s", queue: "none" },
    { rate: { limit: 50, per_seconds: 1 }, queue: null },
  ],
  [{ rate: "100/1h" }, { rate: { limit: 100, per_seconds: 3_600 } }],
  [
    { concurrency: "none", rate: "none" },
    { concurrency: null, rate: null },
  ],
])("[LIM-door-1] limits as they are typed: %o", (flags, limits) => {
  expect(readLimits(flags)).toEqual(limits);
});

test.each([
  { concurrency: "0" },
  { concurrency: "x" },
  { rate: "50" },
  { rate: "50/1s/2" },
  { rate: "x/1s" },
  { queue: "1.5" },
])("[LIM-door-1] %o is refused", (flags) => {
  expect(() => readLimits(flags)).toThrow(WrongUsage);
});
