import { describe, expect, test } from "vitest";
import { cutText, planRuns, visibleText } from "./visible-text.ts";

describe("text made visible", () => {
  test.each([
    ["plain text", "plain text"],
    ["two\nlines\tand a tab", "two\nlines\tand a tab"],
    ["evil\u202etxt.exe", "evil[RLO]txt.exe"],
    ["\u2066isolated\u2069", "[LRI]isolated[PDI]"],
    ["bell\u0007", "bell[U+0007]"],
    ["\u001b[31mred", "[ESC][31mred"],
    ["a\u200bb", "a[ZWSP]b"],
    ["half \ud83d pair", "half [U+D83D] pair"],
    ["whole \u{1f600} pair", "whole \u{1f600} pair"],
    ["<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"],
    ["tag \u{e0041}", "tag [U+E0041]"],
  ])("%j is shown as %j", (text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });

  test("runs hold the whole text, in its order", () => {
    expect(planRuns("a\u202eb\u202ec").map(({ text, isMark }) => [text, isMark])).toEqual([
      ["a", false],
      ["RLO", true],
      ["b", false],
      ["RLO", true],
      ["c", false],
    ]);
    expect(planRuns("")).toEqual([]);
  });

  test("a cut never leaves half a character", () => {
    expect(cutText("ab\u{1f600}c", 3)).toBe("ab");
    expect(cutText("ab\u{1f600}c", 4)).toBe("ab\u{1f600}");
    expect(cutText("short", 10)).toBe("short");
  });
});
