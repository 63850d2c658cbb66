import { describe, expect, test } from "vitest";
import { diffLines, foldSame } from "./line-diff.ts";

const sign = { same: " ", added: "+", removed: "-" } as const;
const shown = (before: string, after: string): string =>
  diffLines(before, after)
    .map(({ kind, text }) => `${sign[kind]}${text}`)
    .join("\n");

describe("line by line", () => {
  test.each([
    ["a\nb\nc", "a\nb\nc", " a\n b\n c"],
    ["a\nb\nc", "a\nx\nc", " a\n-b\n+x\n c"],
    ["a\nc", "a\nb\nc", " a\n+b\n c"],
    ["a\nb\nc", "a\nc", " a\n-b\n c"],
    ["", "a", "-\n+a"],
    ["a\na", "a", " a\n-a"],
  ])("%j to %j", (before, after, lines) => {
    expect(shown(before, after)).toBe(lines);
  });

  test("both texts can be read from it, whatever they are", () => {
    const before = Array.from({ length: 200 }, (_, at) => `line ${(at * 7) % 13}`).join("\n");
    const after = Array.from({ length: 180 }, (_, at) => `line ${(at * 5) % 11}`).join("\n");
    const lines = diffLines(before, after);
    const side = (kind: "added" | "removed"): string =>
      lines
        .filter((line) => line.kind === "same" || line.kind === kind)
        .map(({ text }) => text)
        .join("\n");
    expect(side("removed")).toBe(before);
    expect(side("added")).toBe(after);
  });

  test("what did not change is folded away, but for a few lines around", () => {
    const before = Array.from({ length: 30 }, (_, at) => `line ${at}`).join("\n");
    const blocks = foldSame(diffLines(before, before.replace("line 15", "other")));
    expect(blocks.map(({ isFolded, lines }) => [isFolded, lines.length])).toEqual([
      [true, 12],
      [false, 8],
      [true, 11],
    ]);
  });
});
