import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

const KNOWN = ["call", "calls", "cards", "tools", "turns", "up"];

test.each([
  ["clals", "calls"],
  ["cal", "call"],
  ["tool", "tools"],
  ["trns", "turns"],
  ["pu", "up"],
  ["calls", "calls"],
])("%s is taken for %s", (word, meant) => {
  expect(nearest(word, KNOWN)).toBe(meant);
});

test.each(["frobnicate", "x", "", "apples"])("%j is taken for nothing", (word) => {
  expect(nearest(word, KNOWN)).toBeUndefined();
});
