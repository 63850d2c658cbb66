import { expect, test } from "vitest";
import { actWords, detailWords, placeOfSubject } from "./audit-words.ts";

test("an act is words, and its subject leads to its page when it has one", () => {
  expect(actWords("dead_letter.replayed")).toBe("dead letter replayed");
  expect(placeOfSubject("demo", "tool.applied", "pay")).toEqual({ kind: "tool", project: "demo", id: "pay" });
  expect(placeOfSubject("demo", "token.created", "t1")).toBeUndefined();
  expect(placeOfSubject("demo", "call.denied", null)).toBeUndefined();
});

test("a detail is names and values; hashes are cut, and what says nothing is left out", () => {
  const detail = {
    outcome: "replaced",
    version: 3,
    changed: ["description", "options.approval"],
    definition_hash: "6425a0e23b6c9958d9c233aa716c8c7574f885c966b8c280f94788d870b66a7d",
    was_deleted: false,
    before: null,
    weakens: [],
    limits: { rate: 5 },
  };
  expect(detailWords(detail)).toEqual([
    ["outcome", "replaced"],
    ["version", "3"],
    ["changed", "description, options.approval"],
    ["definition hash", "6425a0e2…"],
    ["limits", '{"rate":5}'],
  ]);
  expect(detailWords(null)).toEqual([]);
  expect(detailWords(undefined)).toEqual([]);
  expect(detailWords("a note")).toEqual([["detail", "a note"]]);
});
