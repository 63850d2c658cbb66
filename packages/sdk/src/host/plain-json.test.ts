import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toJson, toJsonObject } from "./plain-json.ts";

describe("toJson", () => {
  test("plain JSON passes as it is, without a copy", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(toJson(value, "it")).toBe(value);
      }),
    );
  });

  test("what JSON.stringify understands is brought into shape", () => {
    expect(toJson({ at: new Date(0), left: undefined }, "it")).toEqual({ at: "1970-01-01T00:00:00.000Z" });
    class Shelf {
      readonly books = 3;
    }
    expect(toJson([new Shelf()], "it")).toEqual([{ books: 3 }]);
  });

  const cycle: Record<string, unknown> = {};
  cycle.again = { cycle };
  let shared: unknown = "leaf";
  for (let level = 0; level < 40; level++) shared = [shared, shared];
  test.each<[string, unknown, string]>([
    ["NaN", { n: [Number.NaN] }, "NaN at $.n[0]"],
    ["a function", { f: () => 1 }, "a function at $.f"],
    ["a BigInt", [1n], "a bigint at $[0]"],
    ["undefined in a list", [undefined], "undefined in an array at $[0]"],
    ["a hole", new Array(1), "$[0]"],
    ["a Map", { m: new Map() }, "a Map at $.m"],
    ["a forgotten promise", { p: Promise.resolve() }, "a Promise at $.p"],
    ["a cycle", cycle, "a cycle at $.again"],
    ["a small graph that is an enormous tree", shared, "larger than"],
    [
      "a getter that throws",
      {
        get boom(): never {
          throw new TypeError("x");
        },
      },
      "reading the value failed",
    ],
  ])("[HOST-3-5] %s is refused with its path", (_name, value, words) => {
    expect(() => toJson(value, "the value")).toThrow(words);
    expect(() => toJson(value, "the value")).toThrow(/^the value cannot be sent: /);
  });

  test("a state is an object", () => {
    expect(toJsonObject({ a: 1 }, "the state")).toEqual({ a: 1 });
    expect(() => toJsonObject([1], "the state")).toThrow("the state must be an object");
  });
});
