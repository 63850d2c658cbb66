import fc from "fast-check";
import { expect, test } from "vitest";
import { findChangedInteger } from "./kept-integers.ts";

test("an integer that is read as another one is found by its path", () => {
  expect(findChangedInteger('{"a":[1,{"9007199254740993":"9007199254740993","id":-9007199254740993}]}')).toBe(
    "$.a[1].id",
  );
  expect(findChangedInteger("9007199254740993")).toBe("$");
  // Python writes 2 ** 60 so; JavaScript would write another number.
  expect(findChangedInteger("[0,1152921504606846976]")).toBe("$[1]");
  expect(findChangedInteger('{"a":{"b":[],"c":1180591620717411303424}}')).toBe("$.a.c");
});

test("what a number keeps, and what is no integer, is not found", () => {
  for (const text of ["9007199254740992", "1152921504606847000", "1000000000000000000000000", "0.1234567890123456789"])
    expect(findChangedInteger(`{"a":${text}}`), text).toBeUndefined();
  expect(findChangedInteger('{"a":"9007199254740993","b":1.5e30}')).toBeUndefined();
});

test("no number that JavaScript writes is found", () => {
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.double({ noNaN: true, noDefaultInfinity: true, noInteger: false }),
      (value, number) => {
        expect(findChangedInteger(JSON.stringify([value, number, Math.trunc(number)]))).toBeUndefined();
      },
    ),
  );
});
