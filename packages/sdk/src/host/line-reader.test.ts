import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createLineReader } from "./line-reader.ts";

const read = (chunks: readonly Buffer[], maxBytes = 1000): readonly string[] => {
  const seen: string[] = [];
  const reader = createLineReader({
    maxBytes,
    onLine: (line) => seen.push(line),
    onFault: (fault) => seen.push(`<${fault}>`),
  });
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return seen;
};

const cut = (bytes: Buffer, sizes: readonly number[]): readonly Buffer[] => {
  const chunks: Buffer[] = [];
  let start = 0;
  for (const size of sizes) {
    chunks.push(bytes.subarray(start, start + size));
    start += size;
  }
  return [...chunks, bytes.subarray(start)].filter((chunk) => chunk.length > 0);
};

describe("createLineReader", () => {
  test("lines are the same however the bytes are cut", () => {
    const line = fc.string({ unit: fc.constantFrom("a", "{", "\r", "\u00e9", "\u20ac", "\u{1f600}"), maxLength: 20 });
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.integer({ min: 1, max: 9 })), fc.boolean(), (lines, sizes, ended) => {
        const text = lines.join("\n") + (ended && lines.length > 0 ? "\n" : "");
        const seen = read(cut(Buffer.from(text), sizes));
        const expected = text === "" ? [] : text.split("\n");
        if (expected.at(-1) === "") expected.pop();
        expect(seen).toEqual(expected);
      }),
    );
  });

  test("[HOST-3-6] LR1 a line over the limit is reported once and does not spoil its neighbours", () => {
    fc.assert(
      fc.property(fc.integer({ min: 11, max: 60 }), fc.array(fc.integer({ min: 1, max: 9 })), (length, sizes) => {
        const bytes = Buffer.from(`before\n${"x".repeat(length)}\nafter\n`);
        expect(read(cut(bytes, sizes), 10)).toEqual(["before", "<too_long>", "after"]);
      }),
    );
    expect(read([Buffer.from("0123456789\n")], 10)).toEqual(["0123456789"]);
    expect(read([Buffer.from("x".repeat(11))], 10)).toEqual(["<too_long>"]);
  });

  test("[HOST-3-6] LR2 bytes that are not UTF-8 spoil their own line only", () => {
    const bad = Buffer.concat([Buffer.from("a\nb"), Buffer.from([0xff, 0xfe]), Buffer.from("\nc\n\nd")]);
    expect(read([bad])).toEqual(["a", "<not_utf8>", "c", "", "d"]);
  });

  test("a character that is cut in two is whole again", () => {
    const bytes = Buffer.from("\u{1f600}\n");
    expect(read([bytes.subarray(0, 2), bytes.subarray(2)])).toEqual(["\u{1f600}"]);
  });
});
