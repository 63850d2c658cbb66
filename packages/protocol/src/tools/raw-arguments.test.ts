import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { parseRawArguments, rawArgumentsHash } from "./raw-arguments.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

describe("parseRawArguments", () => {
  test.each([
    ["nothing", undefined, {}],
    ["null", null, {}],
    ["an empty text", "", {}],
    ["a blank text", " \n", {}],
    ["an object", { a: 1 }, { a: 1 }],
    ["JSON text of an object", '{"a":[1,{"b":null}]}', { a: [1, { b: null }] }],
    ["a key given twice: the last one counts", '{"a":1,"a":2}', { a: 2 }],
    ["undefined members are absent", { a: undefined, b: 1 }, { b: 1 }],
  ])("[UTP-5.5-1] %s", (_name, raw, expected) => {
    expect(parseRawArguments(raw)).toEqual(expected);
  });

  test.each([
    ["JSON text of a list", "[1]", "an array"],
    ["JSON text of a text", '"x"', "string"],
    ["JSON text of null", "null", "null"],
    ["JSON text of a number", "3", "number"],
    ["a list", [1], "an array"],
    ["a number", 3, "number"],
    ["true", true, "boolean"],
  ])("[UTP-5.5-2] [UTP-W20-1] %s is bad_request and never becomes _raw", (_name, raw, kind) => {
    expect(() => parseRawArguments(raw)).toThrow(
      expect.objectContaining({ code: "bad_request", message: `arguments: must be an object, not ${kind}` }),
    );
  });

  test.each([
    ["text that is not JSON", "{a: 1}"],
    ["half of an object", '{"a": 1'],
    ["a function", () => 1],
    ["a number that is not finite", { a: Number.NaN }],
    ["a NUL", { a: "\u0000" }],
    ["a lone surrogate", { a: "\ud800" }],
  ])("[UTP-5.5-3] %s is bad_request", (_name, raw) => {
    expect(() => parseRawArguments(raw)).toThrow(expect.objectContaining({ code: "bad_request" }));
  });

  test("[UTP-5.5-3] text that is not JSON is not quoted in the error", () => {
    expect(() => parseRawArguments('{"key": sk-live-123}')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("sk-live") }),
    );
  });

  test("arguments beyond the cap are payload_too_large", () => {
    const large = { a: "a".repeat(17 * 1024 * 1024) };
    for (const raw of [large, JSON.stringify(large)]) {
      expect(() => parseRawArguments(raw)).toThrow(expect.objectContaining({ code: "payload_too_large" }));
    }
  });

  test("[SEC-8-3] a __proto__ key vanishes at every depth and touches nothing", () => {
    const parsed = parseRawArguments('{"__proto__":{"admin":true},"a":{"\\u005f_proto__":{"admin":true},"b":1}}');
    expect(parsed).toEqual({ a: { b: 1 } });
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>).admin).toBeUndefined();
  });
});

describe("[INV-I12-R1] rawArgumentsHash", () => {
  test("text and object, any order of keys, absent and empty are the same request", () => {
    expect(rawArgumentsHash('{"b":1,"a":2}', sha256)).toBe(rawArgumentsHash({ a: 2, b: 1 }, sha256));
    expect(rawArgumentsHash(undefined, sha256)).toBe(rawArgumentsHash({}, sha256));
  });

  test("another value, an explicit null or an added key is another request", () => {
    const hashes = [{ a: 1 }, { a: 2 }, { a: null }, { a: 1, b: null }, {}].map((raw) => rawArgumentsHash(raw, sha256));
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});
