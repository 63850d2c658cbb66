import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { failure } from "../../test/refusals.ts";
import { ToolplaneError } from "../errors/toolplane-error.ts";
import { canonicalText } from "./canonical-text.ts";
import { copyJson } from "./json-copy.ts";
import { MAX_JSON_DEPTH } from "./json-value.ts";

const nested = (levels: number): unknown => {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
};

/** Values that JSON can say: what every card is made of. */
const json = fc.jsonValue({ maxDepth: 6, noUnicodeString: false });
const storable = json.filter((value) => {
  const text = JSON.stringify(value);
  return !text.includes("\\u0000") && !text.includes("\\ud") && !text.includes("__proto__");
});

const shuffleKeys = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shuffleKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, shuffleKeys(item)]),
  );
};

describe("canonical text", () => {
  const written: readonly [string, unknown, string][] = [
    [
      "numbers as ECMAScript writes them",
      [Number("333333333.33333329"), 1e30, 4.5, 0.002, 1e-27, -0],
      "[333333333.3333333,1e+30,4.5,0.002,1e-27,0]",
    ],
    ["literals", [null, true, false], "[null,true,false]"],
    ["escapes", '\u20ac$\u000f\nA\'B"\\\\"/', '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'],
    [
      "keys by UTF-16 code units",
      {
        "\u20ac": "Euro",
        "\r": "CR",
        "\ufb33": "Dalet",
        "1": "One",
        "\u{1f600}": "Smile",
        "\u0080": "Control",
        "\u00f6": "o",
      },
      '{"\\r":"CR","1":"One","\u0080":"Control","\u00f6":"o","\u20ac":"Euro","\u{1f600}":"Smile","\ufb33":"Dalet"}',
    ],
    ["all-digit keys as text, not as numbers", { a: 1, "10": 2, "9": 3, "": 4 }, '{"":4,"10":2,"9":3,"a":1}'],
    ["nested all-digit keys", [{ x: { "2": [], "11": {} } }], '[{"x":{"11":{},"2":[]}}]'],
    ["undefined properties left out", { a: undefined, b: 1 }, '{"b":1}'],
    ["a Date by its toJSON", { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    ["objects without a prototype", Object.assign(Object.create(null), { b: 1, a: 2 }), '{"a":2,"b":1}'],
    ["a text that only looks like an escape", "C:\\udata \\u0000", '"C:\\\\udata \\\\u0000"'],
  ];
  test.each(written)("[INV-I7-C1] %s", (_name, value, text) => {
    expect(canonicalText(value)).toBe(text);
    expect(JSON.stringify(copyJson(value)).length).toBe(text.length);
  });

  test("[INV-I7-C2] the text does not depend on the order of keys, and reads back as the value", () => {
    fc.assert(
      fc.property(storable, (value) => {
        const text = canonicalText(value);
        expect(canonicalText(shuffleKeys(value))).toBe(text);
        expect(canonicalText(JSON.parse(text))).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(copyJson(value)).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  test("[INV-I7-C1] many keys are sorted as few are, by code units and not as people would", () => {
    const heads = ["k", "K", "\u00e9", "\u{1f600}", "\ufb33", "_"];
    const keys = Array.from({ length: 200 }, (_, i) => `${heads[i % heads.length]}${(i * 7919) % 200}`);
    const text = canonicalText(Object.fromEntries(keys.map((key) => [key, 0])));
    expect(Object.keys(JSON.parse(text))).toEqual([...keys].sort());
  });
});

describe("what is not JSON", () => {
  const cycle: Record<string, unknown> = { deep: {} };
  (cycle.deep as Record<string, unknown>).again = cycle;
  const sparse: unknown[] = [0];
  sparse[2] = 2;
  const refused: readonly [string, unknown, string][] = [
    ["a NUL", { a: ["x\0y"] }, "$.a[0]"],
    ["a NUL in a key", { ok: { "a\0": 1 } }, '$.ok["a\\u0000"]'],
    ["a lone high surrogate", ["\ud83d"], "$[0]"],
    ["a lone low surrogate", { "we ird": "\udc00x" }, '$["we ird"]'],
    ["a lone surrogate in a key", { "\ud800": 1 }, '$["\\ud800"]'],
    ["NaN", { n: Number.NaN }, "$.n"],
    ["Infinity", [[Number.POSITIVE_INFINITY]], "$[0][0]"],
    ["undefined in an array", [1, undefined], "$[1]"],
    ["a hole", sparse, "$[1]"],
    ["undefined itself", undefined, "$"],
    ["a function", { f: () => 1 }, "$.f"],
    ["a symbol", [Symbol("s")], "$[0]"],
    ["a BigInt", { big: 1n }, "$.big"],
    ["a Map", { m: new Map() }, "$.m"],
    ["a Set", new Set([1]), "$"],
    ["a promise somebody forgot to await", { p: Promise.resolve(1) }, "$.p"],
    ["an Error", [new TypeError("x")], "$[0]"],
    ["bytes", { b: new Uint8Array(2) }, "$.b"],
    [
      "a getter that throws",
      {
        in: {
          get bad(): never {
            throw new TypeError("x");
          },
        },
      },
      "$.in",
    ],
    [
      "a toJSON that throws",
      {
        toJSON() {
          throw new TypeError("x");
        },
      },
      "$",
    ],
  ];
  test.each(refused)("[API-4-C1] %s is result_not_serializable and names the path", (_name, value, path) => {
    for (const run of [canonicalText, copyJson]) {
      const error = failure(() => run(value));
      expect(error.code).toBe("result_not_serializable");
      expect(error.detail?.path).toBe(path);
      expect(error.message.isWellFormed()).toBe(true);
    }
  });

  test("[API-4-C2] a cycle is refused as one", () => {
    expect(failure(() => canonicalText(cycle)).message).toContain("a cycle");
  });

  test("[SEC-4-C1] nesting is capped at 64 levels, and the cap can be set", () => {
    expect(canonicalText(nested(MAX_JSON_DEPTH))).toContain("1");
    expect(failure(() => canonicalText(nested(MAX_JSON_DEPTH + 1))).message).toContain("64 levels");
    expect(canonicalText(nested(3), { maxDepth: 3 })).toBe('[{"a":[1]}]');
    expect(failure(() => canonicalText(nested(4), { maxDepth: 3 })).code).toBe("result_not_serializable");
  });

  test("[SEC-4-C2] size is capped in bytes of UTF-8", () => {
    expect(canonicalText("\u20ac\u20ac", { maxBytes: 8 })).toBe('"\u20ac\u20ac"');
    expect(failure(() => canonicalText("\u20ac\u20ac", { maxBytes: 7 })).code).toBe("result_too_large");
    expect(canonicalText("\u{1f600}\u00f6", { maxBytes: 8 })).toHaveLength(5);
    expect(failure(() => canonicalText("x".repeat(100), { maxBytes: 50 })).detail).toEqual({ max_bytes: 50 });
  });

  test("[SEC-4-C2] a copy is refused exactly when its text would be", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.integer({ min: 1, max: 60 }), (value, maxBytes) => {
        const outcome = (run: typeof copyJson | typeof canonicalText): string => {
          try {
            run(value, { maxBytes });
            return "fits";
          } catch (error) {
            return (error as ToolplaneError).code;
          }
        };
        expect(outcome(copyJson)).toBe(outcome(canonicalText));
      }),
      { numRuns: 1000 },
    );
  });

  test("[SEC-4-C3] a small graph that is an enormous tree is refused without writing it", () => {
    let shared: unknown = "leaf";
    for (let i = 0; i < 40; i++) shared = [shared, shared];
    expect(failure(() => canonicalText(shared, { maxBytes: 100_000 })).code).toBe("result_too_large");
  });

  test("[SEC-4-C4] __proto__ is dropped, constructor is data", () => {
    const evil = JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":{"x":1}},"a":{"__proto__":1}}');
    expect(canonicalText(evil)).toBe('{"a":{},"constructor":{"prototype":{"x":1}}}');
    const copy = copyJson(evil) as Record<string, unknown>;
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(copy.admin).toBeUndefined();
  });

  test("[API-4-C3] whatever is given, only ToolplaneError is thrown", () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withSet: true,
          withTypedArray: true,
          withSparseArray: true,
          withNullPrototype: true,
          withObjectString: true,
        }),
        (value) => {
          try {
            const text = canonicalText(value);
            expect(canonicalText(JSON.parse(text))).toBe(text);
          } catch (error) {
            expect(error).toBeInstanceOf(ToolplaneError);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("a copy shares nothing with what it was made of", () => {
    const source = { list: [{ a: 1 }] };
    const copy = copyJson(source) as { list: { a: number }[] };
    (source.list[0] as { a: number }).a = 2;
    expect(copy).toEqual({ list: [{ a: 1 }] });
  });
});
