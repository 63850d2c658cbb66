import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJsonStrict } from "./parse-json.ts";
import { mayBeUnstorable, refuseUnstorable, storableText, textFault } from "./storable-text.ts";

describe("refuseUnstorable", () => {
  test.each<[unknown, string]>([
    [{ a: [{ b: "x\0" }] }, "the body has a NUL character at $.a[0].b: leave it out, it cannot be stored"],
    [["ok", "\udc00"], "the body has a lone surrogate at $[1]: leave it out, it cannot be stored"],
    [{ a: { "\0": 1 } }, "the body has a NUL character in a name at $.a: leave it out, it cannot be stored"],
  ])("%j is refused with its place", (value, message) => {
    expect(() => refuseUnstorable(value, "the body")).toThrow(message);
  });

  test("what JSON says without the escapes can be stored, and only such text is passed unsearched", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.boolean(), (text, upper) => {
        const written = JSON.stringify({ [text]: text });
        const json = upper ? written.replaceAll("\\ud", "\\uD") : written;
        if (!mayBeUnstorable(json)) expect(textFault(text)).toBeUndefined();
      }),
    );
  });
});

describe("[SEC-json-twice] namesOnce", () => {
  test.each([
    '{"a":1,"a":2}',
    String.raw`{"a":1,"\u0061":2}`,
    '{"x":[{"b":":","b":""}]}',
    '{"__proto__":1,"__proto__":2}',
    `{"long":"${"x".repeat(40_000)}","a":1,"a":":"}`,
  ])("%j is refused", (text) => {
    expect(() => parseJsonStrict(text, { namesOnce: true })).toThrow("names a member of an object twice");
  });

  test("every text that JSON.stringify writes is read as without the question", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value, null, 2);
        expect(parseJsonStrict(text, { namesOnce: true })).toEqual(parseJsonStrict(text));
      }),
    );
    expect(parseJsonStrict('{"__proto__":{"a":1},"b":"\\":"}', { namesOnce: true })).toEqual({ b: '":' });
  });
});

test("what is made storable can be stored, is cut, and shows where something was", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.nat(20), (text, max) => {
      const kept = storableText(text, max);
      expect(textFault(kept)).toBeUndefined();
      expect(kept.length).toBe(Math.min(text.length, max));
    }),
  );
  expect(storableText("a\0b\ud800c")).toBe("a\ufffdb\ufffdc");
});
