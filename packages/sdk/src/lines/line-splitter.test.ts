import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createLineSplitter } from "./line-splitter.ts";

const collect = (limit: number) => {
  const seen: unknown[] = [];
  const splitter = createLineSplitter(limit, {
    line: (text, bytes, valid) => seen.push(valid ? [text, bytes] : [text, bytes, "not UTF-8"]),
    tooLong: (head) => seen.push({ tooLong: head }),
    tooLongEnded: (head, tail) => seen.push({ ended: head, tail }),
  });
  return { seen, splitter };
};

/** The text cut at the given places. */
const cut = (bytes: Buffer, places: readonly number[]): readonly Buffer[] => {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end));
};

const line = fc.string({ unit: "grapheme", maxLength: 40 }).map((text) => text.replaceAll("\n", " "));

describe("lines", () => {
  test("[HOST-4-L1] are the same however the bytes arrive, inside characters too; empty ones are lines", () => {
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(500)), (lines, places) => {
        const { seen, splitter } = collect(10_000);
        for (const chunk of cut(Buffer.from(lines.map((text) => `${text}\n`).join("")), places)) splitter.push(chunk);
        expect(seen).toEqual(lines.map((text) => [text, Buffer.byteLength(text)]));
        expect(splitter.held()).toBe(0);
      }),
    );
  });

  test("the rest is a line when the stream ends", () => {
    const { seen, splitter } = collect(100);
    splitter.push(Buffer.from("a\nb"));
    expect(seen).toEqual([["a", 1]]);
    splitter.end();
    splitter.end();
    expect(seen).toEqual([
      ["a", 1],
      ["b", 1],
    ]);
  });

  test("[HOST-1-P1] bytes that are not UTF-8 are said to be; a real replacement character is not one of them", () => {
    const { seen, splitter } = collect(100);
    splitter.push(Buffer.from([97, 0xff, 10]));
    splitter.push(Buffer.from("\uFFFD\n"));
    expect(seen).toEqual([
      ["a\uFFFD", 2, "not UTF-8"],
      ["\uFFFD", 3],
    ]);
  });
});

describe("a line over the limit", () => {
  test("[HOST-4-11] is announced when it passes the limit, its edges are kept, and the next line is read", () => {
    const { seen, splitter } = collect(10);
    splitter.push(Buffer.from("01234567"));
    expect(seen).toEqual([]);
    splitter.push(Buffer.from("89ab"));
    expect(seen).toEqual([{ tooLong: "0123456789ab" }]);
    splitter.push(Buffer.from("cd"));
    splitter.push(Buffer.from("ef\nnext\n"));
    expect(seen.slice(1)).toEqual([{ ended: "0123456789ab", tail: "89abcdef" }, ["next", 4]]);
  });

  test("one of exactly the limit is a line, inside a chunk and across two", () => {
    const { seen, splitter } = collect(4);
    splitter.push(Buffer.from("1234\n12"));
    splitter.push(Buffer.from("34\n12345\n"));
    expect(seen.slice(0, 2)).toEqual([
      ["1234", 4],
      ["1234", 4],
    ]);
    expect(seen.slice(2)).toEqual([{ tooLong: "12345" }, { ended: "12345", tail: "12345" }]);
  });

  test("[HOST-4-L1] never holds more than the limit, whatever comes", () => {
    fc.assert(
      fc.property(fc.nat(200), fc.array(fc.uint8Array({ maxLength: 300 })), (limit, chunks) => {
        const { seen, splitter } = collect(limit);
        for (const chunk of chunks) {
          splitter.push(Buffer.from(chunk));
          expect(splitter.held()).toBeLessThanOrEqual(limit);
        }
        splitter.end();
        const whole = Buffer.concat(chunks);
        const lines: Buffer[] = [];
        for (let start = 0; start < whole.length; ) {
          const end = whole.indexOf(10, start);
          lines.push(whole.subarray(start, end < 0 ? whole.length : end));
          start = end < 0 ? whole.length : end + 1;
        }
        const short = lines.filter(({ length }) => length <= limit);
        expect(seen.filter(Array.isArray).map((entry) => entry[1])).toEqual(short.map(({ length }) => length));
        const long = lines.filter(({ length }) => length > limit).length;
        expect(seen.filter((entry) => typeof entry === "object" && entry !== null && "ended" in entry)).toHaveLength(
          long,
        );
      }),
    );
  });

  test("[HOST-4-L1] a long line that comes byte by byte costs its bytes", () => {
    const { seen, splitter } = collect(1_000_000);
    const byte = Buffer.from("x");
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < 300_000; i += 1) splitter.push(byte);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(3_000_000);
    splitter.push(Buffer.from("\n"));
    expect(seen).toEqual([["x".repeat(300_000), 300_000]]);
  });
});
