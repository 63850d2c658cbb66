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

test.each([
  ["wait", ["key", "agent", "at"]],
  ["nothere", ["other"]],
  ["tool", ["to"]],
])("%s shares too little with %j", (word, known) => {
  expect(nearest(word, known)).toBeUndefined();
});

test.each([
  ["databseurl", "databaseurl"],
  ["promt", "prompt"],
  ["fetch_pgae", "fetch_page"],
  ["serch", "search"],
  ["sreach", "search"],
  ["signals", "signal"],
])("%s is close enough to %s", (word, meant) => {
  expect(nearest(word, [meant])).toBe(meant);
});

test.each(["frobnicate", "x", "", "apples"])("%j is taken for nothing", (word) => {
  expect(nearest(word, KNOWN)).toBeUndefined();
});
