import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonText, oneLine, shorten } from "./plain-text.ts";

const ACTIVE = "\u0000\u0007\u001b\u007f\u009b\u061c\u200b\u200e\u2028\u202e\u2066\ufeff\u{e0041}";

const isQuiet = (text: string): boolean => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text.replaceAll("\n", ""));

describe("text of others on a terminal", () => {
  test("[API-2-K2] nothing that moves the cursor, colours or turns the text reaches the terminal", () => {
    const said = oneLine(`a${ACTIVE}b\u001b[2J`);
    expect(isQuiet(said)).toBe(true);
    expect(said.startsWith("a\\u0000\\u0007\\u001b\\u007f")).toBe(true);
    expect(said.endsWith("\\u001b[2J")).toBe(true);
  });

  test("line ends become blanks, so an error is one line", () => {
    expect(oneLine("one\ntwo\r\nthree\tfour\n")).toBe("one two three four");
  });

  test("any text is one quiet line", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const said = oneLine(text);
        expect(isQuiet(said) && !said.includes("\n")).toBe(true);
      }),
    );
  });

  test("JSON keeps its value and loses its tricks", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (value, text) => {
        const data = { value, text: `${text}${ACTIVE}` };
        for (const indent of [undefined, 2]) {
          const written = jsonText(data, indent);
          expect(isQuiet(written)).toBe(true);
          expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(data)));
        }
      }),
    );
  });

  test("undefined is written as null", () => {
    expect(jsonText(undefined)).toBe("null");
  });

  test.each([
    ["short", 10, "short"],
    ["exactly ten", 11, "exactly ten"],
    ["rather too long", 10, "rather ..."],
  ])("%j in %d characters is %j", (text, width, cut) => {
    expect(shorten(text, width)).toBe(cut);
  });
});
