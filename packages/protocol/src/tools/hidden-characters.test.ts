import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codePointName, findHiddenCharacter } from "./hidden-characters.ts";

const show = (text: string): string => {
  const hidden = findHiddenCharacter(text);
  return hidden === undefined ? "clean" : `${codePointName(hidden.codePoint)} at ${hidden.index}`;
};

describe("[SEC-10-R3] invisible and bidi characters", () => {
  test.each([
    ["plain text, \ttabs\r\nand lines", "clean"],
    ["Größe, 日本語, עברית, हिन्दी", "clean"],
    ["⚠\ufe0f warning", "clean"],
    ["👩\u200d👧 family", "clean"],
    ["❤\ufe0f\u200d🔥", "clean"],
    ["می\u200cخواهم", "clean"],
    ["क्\u200dष", "clean"],
    ["", "clean"],
    ["a\u202eb", "U+202E at 1"],
    ["a\u2066b", "U+2066 at 1"],
    ["a\u200fb", "U+200F at 1"],
    ["\u061ca", "U+061C at 0"],
    ["a\u200bb", "U+200B at 1"],
    ["a\u00adb", "U+00AD at 1"],
    ["a\u2060b", "U+2060 at 1"],
    ["a\ufeff", "U+FEFF at 1"],
    ["a\u3164", "U+3164 at 1"],
    ["pass\u200dword", "U+200D at 4"],
    ["日\u200d", "U+200D at 1"],
    ["\u200d日", "U+200D at 0"],
    ["日\u200d\u200d日", "U+200D at 1"],
    ["\ufe0f", "U+FE0F at 0"],
    ["a\ufe0f\ufe0f", "U+FE0F at 2"],
    ["a\ufe01", "U+FE01 at 1"],
    ["a\u{e0041}b", "U+E0041 at 1"],
    ["a\u{e0101}b", "U+E0101 at 1"],
    ["bell\u0007", "U+0007 at 4"],
    ["esc\u001b[31m", "U+001B at 3"],
    ["a\u0085b", "U+0085 at 1"],
    ["a\u0000", "U+0000 at 1"],
    ["a\ud800b", "U+D800 at 1"],
  ])("%j is %s", (text, expected) => {
    expect(show(text)).toBe(expected);
  });

  test("printable ASCII is always clean, and a bidi override is found wherever it stands", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme-ascii" }), fc.nat(), (text, at) => {
        expect(findHiddenCharacter(text)).toBeUndefined();
        const index = at % (text.length + 1);
        const poisoned = `${text.slice(0, index)}\u202e${text.slice(index)}`;
        expect(findHiddenCharacter(poisoned)).toEqual({ index, codePoint: 0x202e });
      }),
    );
  });
});
