import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codeOf } from "../../test/refusals.ts";
import { ToolplaneError } from "../errors/toolplane-error.ts";
import { formatJsonPath } from "./json-path.ts";
import { utf8Bytes } from "./json-value.ts";
import { parseJsonStrict, tryParseJsonStrict } from "./parse-json.ts";

describe("strict parsing", () => {
  const texts: readonly [string, string, string][] = [
    ["an object", '{"a":[1,2,{"b":null}]}', "accepted"],
    ["64 levels", `${"[".repeat(64)}${"]".repeat(64)}`, "accepted"],
    ["65 levels", `${"[".repeat(65)}${"]".repeat(65)}`, "bad_request"],
    ["a hundred thousand levels", "[".repeat(100_000), "bad_request"],
    ["deep and closed", `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`, "bad_request"],
    ["an empty text", "", "bad_request"],
    ["a byte order mark", "\ufeff{}", "bad_request"],
    ["a trailing comma", "[1,]", "bad_request"],
    ["a number out of range", '{"a":1e999}', "bad_request"],
    ["NaN", "NaN", "bad_request"],
  ];
  test.each(texts)("[SEC-4-C5] %s", (_name, text, code) => {
    expect(codeOf(() => parseJsonStrict(text))).toBe(code);
    expect(tryParseJsonStrict(text) === undefined).toBe(code !== "accepted");
  });

  test("[SEC-4-C6] a text over the size cap is payload_too_large before it is read", () => {
    expect(codeOf(() => parseJsonStrict("[1,2,3", { maxBytes: 5 }))).toBe("payload_too_large");
    expect(codeOf(() => parseJsonStrict('"\u20ac"', { maxBytes: 4 }))).toBe("payload_too_large");
    expect(codeOf(() => parseJsonStrict('"\u20ac"', { maxBytes: 5 }))).toBe("accepted");
  });

  const protos: readonly [string, string][] = [
    ["spelled out", '{"__proto__":{"admin":true},"a":1}'],
    ["escaped", '{"\\u005f_proto__":{"admin":true},"a":1}'],
    ["escaped in the middle", '{"__pr\\u006fto__":{"admin":true},"a":1}'],
  ];
  test.each(protos)("[SEC-4-C7] a __proto__ key %s is dropped at every level", (_name, text) => {
    expect(Object.keys(parseJsonStrict(text) as object)).toEqual(["a"]);
    const nested = parseJsonStrict(`{"in":[${text}]}`) as { in: object[] };
    expect(Object.keys(nested.in[0] ?? {})).toEqual(["a"]);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  test("[SEC-4-C8] constructor and prototype are own data; of duplicate keys the last wins", () => {
    const value = parseJsonStrict('{"constructor":{"prototype":{"x":1}},"a":1,"a":2}') as Record<string, unknown>;
    expect(Object.hasOwn(value, "constructor")).toBe(true);
    expect(value.a).toBe(2);
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  const broken: readonly [string, string][] = [
    ['{"token": s3cr3t-value}', "the text is not valid JSON"],
    ['{"token": "s3cr3t" x}', "the text is not valid JSON (position 19)"],
    ["in JSON at position 3141592", "the text is not valid JSON"],
  ];
  test.each(broken)("[INV-I8-C1] the error for %j may give a position and never quotes the text", (text, message) => {
    expect(() => parseJsonStrict(text)).toThrow(new ToolplaneError("bad_request", message));
  });

  test("what JSON.parse reads, this reads the same; what it does not, is bad_request", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.string(),
          fc.json().map((text) => text.slice(1)),
        ),
        (text) => {
          fc.pre(!text.includes("__proto__") && !text.includes("\\u00"));
          const expected = (() => {
            try {
              return { value: JSON.parse(text) as unknown };
            } catch {
              return undefined;
            }
          })();
          if (expected === undefined) expect(codeOf(() => parseJsonStrict(text))).toBe("bad_request");
          else expect(parseJsonStrict(text)).toEqual(expected.value);
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe("measures", () => {
  test("UTF-8 length equals the encoder's", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "\u00f6", "\u20ac", "\u{1f600}", "\ud83d", "\ude00") }),
        (text) => {
          expect(utf8Bytes(text)).toBe(new TextEncoder().encode(text).length);
        },
      ),
    );
    expect(utf8Bytes("a\ud800b")).toBe(5);
  });

  test("paths are readable and bounded", () => {
    expect(formatJsonPath(["a", 0, "b c", "_x1", "1x"])).toBe('$.a[0]["b c"]._x1["1x"]');
    expect(formatJsonPath([""])).toBe('$[""]');
    expect(formatJsonPath([Symbol("s")])).toBe('$["Symbol(s)"]');
    expect(formatJsonPath(Array.from({ length: 500 }, () => "\u{1f600}\u{1f600}")).length).toBeLessThan(210);
  });
});
