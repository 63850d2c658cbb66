import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseDuration, parseMoment, parsePast, tryParseDuration } from "./duration.ts";

describe("durations", () => {
  test.each([
    ["0", 0],
    ["30", 30_000],
    ["500ms", 500],
    ["30s", 30_000],
    ["1.5s", 1_500],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["30d", 2_592_000_000],
  ])("%s is %d ms", (text, ms) => {
    expect(tryParseDuration(text)).toBe(ms);
  });

  test.each(["", "s", "-5s", "5 s", "5x", "1e3s", "1.2.3s", "NaN", "Infinity", "99999d", "٣s"])(
    "%j is none",
    (text) => {
      expect(tryParseDuration(text)).toBeUndefined();
    },
  );

  test("[API-2-K1] a duration that cannot be read is wrong usage that names the flag", () => {
    expect(() => parseDuration("soon", "--wait")).toThrow(
      '--wait takes a duration such as 500ms, 30s, 5m, 2h or 30d, not "soon"',
    );
  });

  test("any text is a duration of zero or more, or none", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const ms = tryParseDuration(text);
        expect(ms === undefined || (Number.isInteger(ms) && ms >= 0)).toBe(true);
      }),
    );
  });
});

describe("moments", () => {
  const now = Date.parse("2030-01-01T00:00:00Z");

  test.each([
    ["+10m", "2030-01-01T00:10:00.000Z"],
    ["2030-02-03T04:05:06Z", "2030-02-03T04:05:06.000Z"],
    ["2030-02-03T04:05:06+02:00", "2030-02-03T02:05:06.000Z"],
  ])("%s is %s", (text, iso) => {
    expect(parseMoment(text, now, "--at").toISOString()).toBe(iso);
  });

  test.each(["tomorrow", "+soon", "", "2030-13-01T00:00:00Z"])("%j is none", (text) => {
    expect(() => parseMoment(text, now, "--at")).toThrow("--at takes a time");
  });
});

test("[API-2-K1] a time of the past is a moment, or so long ago", () => {
  const now = Date.parse("2026-01-31T08:00:00Z");
  expect(parsePast("10m", now, "--since").toISOString()).toBe("2026-01-31T07:50:00.000Z");
  expect(parsePast("2026-01-30T00:00:00Z", now, "--since").toISOString()).toBe("2026-01-30T00:00:00.000Z");
  expect(() => parsePast("lunch", now, "--since")).toThrow("--since takes a time such as");
});
