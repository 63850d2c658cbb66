import { describe, expect, test } from "vitest";
import { refuseLoss } from "./plain-arguments.ts";

class Point {
  readonly x = 1;
}
const ring: Record<string, unknown> = {};
ring.again = ring;

describe("[API-6-C1] arguments that JSON would change are refused by their path", () => {
  test.each([
    ["NaN at $.a", { a: Number.NaN }],
    ["Infinity at $.a[1]", { a: [1, Number.POSITIVE_INFINITY] }],
    ["a function at $.a", { a: () => 1 }],
    ["a symbol at $.a", { a: Symbol("s") }],
    ["a BigInt at $.n", { n: 1n }],
    ["a Map at $.a.b", { a: { b: new Map([[1, 2]]) } }],
    ["a Set at $.a", { a: new Set([1]) }],
    ["a Uint8Array at $.a", { a: new Uint8Array(1) }],
    ["a Promise at $.a", { a: Promise.resolve(1) }],
    ["an Error at $.a", { a: new Error("x") }],
    ["a Point at $.a", { a: new Point() }],
    ["undefined at $.a[0]", { a: [undefined] }],
    ["an invalid Date at $.a", { a: new Date(Number.NaN) }],
    ['NaN at $["odd key"]', { "odd key": Number.NaN }],
    ["NaN at $.a", { a: { toJSON: () => Number.NaN } }],
    ["more than 64 levels", ring],
    ["an object with a member for each argument, not a list", [1]],
    ["an object with a member for each argument, not a number", 1],
    ["an object with a member for each argument, not a Map", new Map()],
  ])("%s", (words, args) => {
    expect(() => refuseLoss(args)).toThrow(expect.objectContaining({ code: "bad_request" }));
    expect(() => refuseLoss(args)).toThrow(words);
  });

  test("a getter that throws is named", () => {
    const args = {
      a: {
        get b(): never {
          throw new Error("no");
        },
      },
    };
    expect(() => refuseLoss(args)).toThrow(expect.objectContaining({ code: "bad_request" }));
  });
});

test("[API-6-C1] what JSON keeps passes: dates, buffers, left out members, objects without a prototype or of another realm", () => {
  const bare = Object.assign(Object.create(null) as object, { a: 1 });
  const foreign = Object.create(Object.create(null) as object) as object;
  const args = {
    at: new Date(0),
    bytes: Buffer.from("x"),
    none: undefined,
    bare,
    foreign,
    deep: [{ a: [null, "x", -0, true] }],
  };
  expect(refuseLoss(args)).toBe(undefined);
  for (const one of [bare, null, undefined, '{"a":1}']) expect(refuseLoss(one)).toBe(undefined);
});
