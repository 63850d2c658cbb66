import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isToolplaneError } from "../errors/toolplane-error.ts";
import { isHeaderText, MAX_HEADER_LENGTH, normalizeHeaders, type RawHeaders } from "./header-map.ts";
import { canonicalHeaderName, HEADER_NAMES } from "./header-names.ts";

const refused = expect.objectContaining({ code: "protocol_violation" });

describe("names", () => {
  test("[UTP-2.1-1] are spelled as the protocol spells them", () => {
    expect([...HEADER_NAMES].sort()).toEqual([
      "CG-Agent-Id",
      "CG-Channel-Id",
      "CG-Msg-Type",
      "CG-Parent-Agent-Id",
      "CG-Parent-Step-Id",
      "CG-Parent-Traceparent",
      "CG-Parent-Turn-Id",
      "CG-Project-Id",
      "CG-Recursion-Depth",
      "CG-Sender",
      "CG-Step-Id",
      "CG-Timestamp",
      "CG-Tool-Call-Id",
      "CG-Turn-Epoch",
      "CG-Turn-Id",
      "CG-Version",
      "traceparent",
      "tracestate",
    ]);
  });

  test("are found in any case where case does not count", () => {
    expect(canonicalHeaderName("cg-TOOL-call-id")).toBe("CG-Tool-Call-Id");
    expect(canonicalHeaderName("TraceParent")).toBe("traceparent");
    expect(canonicalHeaderName("CG-Trace-ID")).toBeUndefined();
    expect(canonicalHeaderName("constructor")).toBeUndefined();
  });
});

describe("normalisation", () => {
  test("[UTP-2.3-4] drops blank names and null values and writes values as text", () => {
    const raw = { "": "x", "  ": "x", a: null, b: undefined, c: 7, d: true, e: "text", f: 12n, g: "", h: 0 };
    expect(normalizeHeaders(raw)).toEqual({ c: "7", d: "true", e: "text", f: "12", g: "", h: "0" });
    expect(normalizeHeaders(null)).toEqual({});
    expect(normalizeHeaders(undefined)).toEqual({});
  });

  test("gives a map of the caller's own", () => {
    const raw = { a: "1" };
    const headers = normalizeHeaders(raw);
    headers.a = "2";
    expect(raw.a).toBe("1");
  });

  test("[UTP-2.1-2] leaves out protocol names in another case", () => {
    const raw = {
      "cg-agent-id": "x",
      "CG-AGENT-ID": "y",
      "CG-Channel-ID": "z",
      Traceparent: "t",
      "CG-Agent-Id": "helper",
    };
    expect(normalizeHeaders(raw)).toEqual({ "CG-Agent-Id": "helper" });
  });

  test("[UTP-2.1-6] leaves out CG-Trace-ID", () => {
    expect(normalizeHeaders({ "CG-Trace-ID": "x", "CG-Trace-Id": "x", "cg-trace-id": "x", other: "y" })).toEqual({
      other: "y",
    });
  });

  const badValues = [
    "a\r\nCG-Agent-Id: boss",
    "a\nb",
    "a\rb",
    "a\0b",
    "\x1b[0m",
    "\x7f",
    "é",
    "日本",
    "\u2028",
    "a\u200b",
  ];
  test.each(badValues)("[SEC-2-1] the value %j is refused", (value) => {
    expect(() => normalizeHeaders({ "X-Any": value })).toThrow(refused);
  });

  const badNames = ["a\r\nb", "a b", "a:b", "é", "a\0", " CG-Agent-Id", "a(b)"];
  test.each(badNames)("[SEC-2-1] the name %j is refused", (name) => {
    expect(() => normalizeHeaders({ [name]: "x" })).toThrow(refused);
  });

  const badShapes: readonly (readonly [string, unknown])[] = [
    ["two values", { a: ["x", "y"] }],
    ["one value in a list", { a: ["x"] }],
    ["an object", { a: { toString: () => "x" } }],
    ["a function", { a: () => "x" }],
    ["a symbol", { a: Symbol("x") }],
    ["a list of headers", ["a"]],
    ["text", "a: b"],
  ];
  test.each(badShapes)("[SEC-2-3] %s has no single text value", (_name, raw) => {
    expect(() => normalizeHeaders(raw as RawHeaders)).toThrow(refused);
  });

  test("[SEC-2-3] number and length are bounded", () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`h${index}`, "x"]));
    expect(Object.keys(normalizeHeaders(many(128)))).toHaveLength(128);
    expect(() => normalizeHeaders(many(129))).toThrow(refused);
    const long = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`h${index}`, "x".repeat(8000)]));
    expect(Object.keys(normalizeHeaders(long(8)))).toHaveLength(8);
    expect(() => normalizeHeaders(long(9))).toThrow(refused);
    expect(normalizeHeaders({ a: "x".repeat(MAX_HEADER_LENGTH) }).a).toHaveLength(MAX_HEADER_LENGTH);
    expect(() => normalizeHeaders({ a: "x".repeat(MAX_HEADER_LENGTH + 1) })).toThrow(refused);
    expect(() => normalizeHeaders({ ["x".repeat(MAX_HEADER_LENGTH + 1)]: "a" })).toThrow(refused);
  });

  test("a __proto__ header changes no prototype", () => {
    const headers = normalizeHeaders(JSON.parse('{"__proto__": "x", "a": "1"}') as RawHeaders);
    expect(Object.getPrototypeOf(headers)).toBe(Object.prototype);
    expect(Object.keys(headers)).toEqual(["a"]);
  });

  test("[SEC-2-1] whatever goes in, only header text comes out", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.anything())), (raw) => {
        try {
          for (const value of Object.values(normalizeHeaders(raw))) expect(isHeaderText(value)).toBe(true);
        } catch (error) {
          if (!isToolplaneError(error)) throw error;
        }
      }),
      { numRuns: 1000 },
    );
  });
});
