import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countWords, mergeCounts } from "./count-words.ts";

const words = (text: string, topK = 50): readonly string[] =>
  countWords(text, topK).words.map(({ word, count }) => `${word} ${count}`);

describe("[UTP-8.11-1] word_count", () => {
  test.each<[string, string, readonly string[]]>([
    ["lower-case", "The THE the", ["the 3"]],
    ["punctuation at the edges only", '"Don\'t!" (stop) well-known…', ["don't 1", "stop 1", "well-known 1"]],
    ["count down, then word up", "b a c b a", ["a 2", "b 2", "c 1"]],
    ["nothing but punctuation", "-- !! ...", []],
    ["other scripts", "Ünïcode ÜNÏCODE 東京", ["ünïcode 2", "東京 1"]],
    ["digits", "42 42. v2", ["42 2", "v2 1"]],
    ["empty", "", []],
  ])("%s", (_what, text, expected) => {
    expect(words(text)).toEqual(expected);
  });

  test("top_k cuts the list, not the totals", () => {
    expect(countWords("a a b c", 1)).toEqual({ total: 4, distinct: 3, words: [{ word: "a", count: 2 }] });
  });

  test("reducing the maps of parts is mapping the whole", () => {
    const text = fc
      .array(fc.constantFrom("a", "b", "C", "d,", "e.", "--"), { maxLength: 30 })
      .map((list) => list.join(" "));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 6 }), (parts) => {
        const mapped = parts.map((part) => countWords(part, 2_000));
        expect(mergeCounts(mapped, 2_000)).toEqual(countWords(parts.join(" "), 2_000));
      }),
    );
  });

  test("a long text without blanks and one of blanks only take no time to speak of", () => {
    const began = process.cpuUsage();
    countWords("!".repeat(1_000_000), 50);
    countWords(" ".repeat(1_000_000), 50);
    expect(process.cpuUsage(began).user).toBeLessThan(5_000_000);
  });
});
