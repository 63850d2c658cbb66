import { createTraceparent } from "@toolplane/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createIds, oldestUuidOf } from "./ids.ts";

const UUID = /^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/;
const isSorted = (ids: readonly string[]): boolean => ids.every((id, i) => i === 0 || (ids[i - 1] ?? "") < id);

describe("uuid", () => {
  test("[UTP-3-E1] 32 hex digits of a UUIDv7 with the clock's milliseconds in front", () => {
    const ids = createIds(() => 0x0123456789ab);
    const id = ids.uuid();
    expect(id).toMatch(UUID);
    expect(id.startsWith("0123456789ab")).toBe(true);
    expect(createIds().traceId()).toMatch(UUID);
  });

  test("[UTP-3-E1] ascending and distinct, whatever the clock does: stands still, runs back, jumps", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 2 ** 47 }), { minLength: 1, maxLength: 50 }),
        fc.integer({ min: 1, max: 200 }),
        (times, each) => {
          let now = 0;
          const ids = createIds(() => now);
          const made: string[] = [];
          for (const time of times) {
            now = time;
            for (let i = 0; i < each; i++) made.push(ids.uuid());
          }
          expect(isSorted(made)).toBe(true);
          expect(made.every((id) => UUID.test(id))).toBe(true);
        },
      ),
      { numRuns: 40 },
    );
  });

  test("ten thousand in one millisecond are still ascending", () => {
    const ids = createIds(() => 1_000);
    const made = Array.from({ length: 10_000 }, () => ids.uuid());
    expect(isSorted(made)).toBe(true);
    expect(new Set(made).size).toBe(10_000);
  });

  test("two processes with one clock make different ids", () => {
    const [a, b] = [createIds(() => 1), createIds(() => 1)];
    const made = Array.from({ length: 1_000 }, () => [a.uuid(), b.uuid()]).flat();
    expect(new Set(made).size).toBe(2_000);
  });
});

test("oldestUuidOf is below every id of its millisecond and above every id before it", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 47 }), (ms) => {
      const bound = oldestUuidOf(ms);
      expect(bound).toMatch(UUID);
      expect(bound <= createIds(() => ms).uuid()).toBe(true);
      expect(createIds(() => ms - 1).uuid() < bound).toBe(true);
    }),
  );
});

test("a span id is 16 hex digits and never all zero", () => {
  const ids = createIds();
  const spans = Array.from({ length: 2_000 }, () => ids.spanId());
  expect(spans.every((span) => /^[0-9a-f]{16}$/.test(span) && span !== "0".repeat(16))).toBe(true);
  expect(new Set(spans).size).toBe(2_000);
  expect(() => createTraceparent(ids)).not.toThrow();
});
