import type { JsonValue } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import type { HttpParameter } from "./operation.ts";
import { pairsOf, writeCookie, writeHeader, writePairs, writePath } from "./write-parameter.ts";

const parameter = (more: Partial<HttpParameter>): HttpParameter => ({
  name: "color",
  in: "query",
  argument: "color",
  style: "form",
  explode: false,
  allowReserved: false,
  json: false,
  ...more,
});

const ARRAY: JsonValue = ["blue", "black", "brown"];
const OBJECT: JsonValue = { R: 100, G: 200, B: 150 };

// The table of the OpenAPI specification, "Style Examples".
describe("[HTTP-2-1] the styles of OpenAPI", () => {
  test.each([
    ["simple", false, "blue", "blue"],
    ["simple", false, ARRAY, "blue,black,brown"],
    ["simple", false, OBJECT, "R,100,G,200,B,150"],
    ["simple", true, ARRAY, "blue,black,brown"],
    ["simple", true, OBJECT, "R=100,G=200,B=150"],
    ["label", false, "blue", ".blue"],
    ["label", false, ARRAY, ".blue,black,brown"],
    ["label", false, OBJECT, ".R,100,G,200,B,150"],
    ["label", true, ARRAY, ".blue.black.brown"],
    ["label", true, OBJECT, ".R=100.G=200.B=150"],
    ["matrix", false, "blue", ";color=blue"],
    ["matrix", false, ARRAY, ";color=blue,black,brown"],
    ["matrix", false, OBJECT, ";color=R,100,G,200,B,150"],
    ["matrix", true, ARRAY, ";color=blue;color=black;color=brown"],
    ["matrix", true, OBJECT, ";R=100;G=200;B=150"],
  ] as const)("path %s explode=%s %j is %s", (style, explode, value, written) => {
    expect(writePath(parameter({ in: "path", style, explode }), value)).toBe(written);
  });

  test.each([
    ["form", false, "blue", "color=blue"],
    ["form", false, "", "color="],
    ["form", false, ARRAY, "color=blue,black,brown"],
    ["form", false, OBJECT, "color=R,100,G,200,B,150"],
    ["form", true, ARRAY, "color=blue&color=black&color=brown"],
    ["form", true, OBJECT, "R=100&G=200&B=150"],
    ["spaceDelimited", false, ARRAY, "color=blue%20black%20brown"],
    ["spaceDelimited", false, OBJECT, "color=R%20100%20G%20200%20B%20150"],
    ["pipeDelimited", false, ARRAY, "color=blue%7Cblack%7Cbrown"],
    ["pipeDelimited", true, ARRAY, "color=blue&color=black&color=brown"],
    ["deepObject", true, OBJECT, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"],
    ["deepObject", true, { a: { b: [1, 2] } }, "color%5Ba%5D%5Bb%5D=1&color%5Ba%5D%5Bb%5D=2"],
    ["form", true, [{ a: 1 }], "color=%7B%22a%22%3A1%7D"],
    ["form", true, null, ""],
  ] as const)("query %s explode=%s %j is %s", (style, explode, value, written) => {
    expect(writePairs(pairsOf(parameter({ style, explode }), value as JsonValue)).join("&")).toBe(written);
  });

  test("headers and cookies", () => {
    expect(writeHeader(parameter({ in: "header", style: "simple" }), OBJECT)).toBe("R,100,G,200,B,150");
    expect(writeHeader(parameter({ in: "header", style: "simple", explode: true }), OBJECT)).toBe("R=100,G=200,B=150");
    expect(writeCookie(parameter({ in: "cookie" }), "a; b=c")).toBe("a%3B%20b%3Dc");
    expect(writePairs(pairsOf(parameter({ json: true }), { a: [1] }))).toEqual(["color=%7B%22a%22%3A%5B1%5D%7D"]);
  });
});

describe("[HTTP-2-2] values are data", () => {
  test.each([
    ["a/b?c#d&e=f", "a%2Fb%3Fc%23d%26e%3Df"],
    ["../../etc/passwd", "..%2F..%2Fetc%2Fpasswd"],
    ["%2e%2e", "%252e%252e"],
    ["a\\b", "a%5Cb"],
    ["line\r\nend", "line%0D%0Aend"],
    ["(it's)*!", "%28it%27s%29%2A%21"],
    ["\ud800", "%EF%BF%BD"],
  ])("in a path %j is %s", (value, written) => {
    expect(writePath(parameter({ in: "path", style: "simple" }), value)).toBe(written);
  });

  test.each([["."], [".."], [""], [null], [undefined], [[]]])("a path parameter %j is refused", (value) => {
    expect(() => writePath(parameter({ in: "path", style: "simple" }), value as JsonValue)).toThrow(
      "path parameter color",
    );
  });

  test.each([
    [true, { "../x": "1" }],
    [true, { "..": "1" }],
    [true, { R: "../x" }],
    [true, ["a", ".."]],
    [false, { "x/..;a": "1" }],
    [false, "."],
    [false, "..\\x"],
  ])("matrix explode=%s: neither a name nor a value in %j may lead upwards", (explode, value) => {
    expect(() => writePath(parameter({ in: "path", style: "matrix", explode }), value as JsonValue)).toThrow(
      "path parameter color",
    );
  });

  test("reserved characters that may stay cannot add a pair or end the query", () => {
    expect(writePairs(pairsOf(parameter({ allowReserved: true }), "a/b:c&d=e#f+g"))).toEqual([
      "color=a/b:c%26d=e%23f%2Bg",
    ]);
  });
});
