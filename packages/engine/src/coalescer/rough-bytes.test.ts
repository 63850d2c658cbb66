import fc from "fast-check";
import { expect, test } from "vitest";
import { roughBytes } from "./rough-bytes.ts";

const MEGABYTE = 1_048_576;

const cycle: Record<string, unknown> = {};
cycle.self = cycle;

const throwing = {
  get secret(): never {
    throw new TypeError("not for you");
  },
};

test.each([
  ["text", "x".repeat(MEGABYTE)],
  ["text in an object", { a: { b: ["x".repeat(MEGABYTE)] } }],
  ["long keys", { ["k".repeat(MEGABYTE)]: 1 }],
  ["many numbers", Array.from({ length: MEGABYTE }, (_, n) => n)],
  ["a cycle", cycle],
])("[ARCH-5-E3] %s counts for what it takes", (_, value) => {
  expect(roughBytes(value, MEGABYTE)).toBe(MEGABYTE);
});

test("[ARCH-5-E3] what cannot be looked at counts little and throws nothing", () => {
  expect(roughBytes(throwing, MEGABYTE)).toBeLessThan(100);
  expect(roughBytes(undefined, MEGABYTE)).toBeLessThan(100);
});

test("[ARCH-5-E3] for any JSON it is within a factor of the text's length", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const { length } = JSON.stringify(value);
      const rough = roughBytes(value, MEGABYTE);
      expect(rough).toBeGreaterThanOrEqual(length / 4);
      expect(rough).toBeLessThanOrEqual(length * 8 + 8);
    }),
  );
});
