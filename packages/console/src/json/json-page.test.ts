import { expect, test } from "vitest";
import { isOpenAtFirst, kindOfJson, pageOf, plainJson, summaryOf } from "./json-page.ts";

const MANY = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`key${at}`, at]));

test("of ten thousand keys the first page is drawn, and the rest is counted", () => {
  const { entries, left } = pageOf(MANY, 100);
  expect(entries).toHaveLength(100);
  expect(entries[99]).toEqual(["key99", 99]);
  expect(left).toBe(9_900);
  expect(isOpenAtFirst(MANY, 0)).toBe(false);
  expect(summaryOf(MANY)).toBe("{ 10000 keys }");
});

test("arrays and small values", () => {
  expect(pageOf(["a", "b"], 100)).toEqual({
    entries: [
      ["0", "a"],
      ["1", "b"],
    ],
    left: 0,
  });
  expect(isOpenAtFirst({ a: 1 }, 0)).toBe(true);
  expect(isOpenAtFirst({ a: 1 }, 2)).toBe(false);
  expect(summaryOf(["x"])).toBe("[ 1 item ]");
});

test.each([
  [null, "null"],
  [undefined, "null"],
  [true, "boolean"],
  [1.5, "number"],
  ["x", "string"],
  [[], "array"],
  [{}, "object"],
])("%j is a %s", (value, kind) => {
  expect(kindOfJson(value)).toBe(kind);
});

test("a text is copied as it is, everything else as JSON", () => {
  expect(plainJson("two\nlines")).toBe("two\nlines");
  expect(plainJson({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(plainJson(undefined)).toBe("null");
});
