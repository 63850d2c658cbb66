import { expect, test } from "vitest";
import { createServedVersions, EVERY_DEFINITION } from "./served-versions.ts";

const KEY = { projectId: "p", target: "t" };
const MINUTE = 60_000;

const open = () => {
  let now = 1_000_000;
  return { served: createServedVersions(() => now), pass: (ms: number) => (now += ms) };
};

test("[ENG-pin-2] a target is mixed while services with different lists ask, in whatever order they list them", () => {
  const { served, pass } = open();
  served.saw(KEY, ["a", "b"]);
  served.saw(KEY, ["b", "a"]);
  served.saw(KEY, undefined);
  expect(served.isMixed(KEY)).toBe(false);
  served.saw(KEY, ["a", "c"]);
  expect(served.isMixed(KEY)).toBe(true);
  expect(served.isMixed({ ...KEY, target: "other" })).toBe(false);
  pass(MINUTE - 1);
  served.saw(KEY, ["a", "c"]);
  pass(1);
  expect(served.isMixed(KEY)).toBe(false);
});

test.each([
  ["a definition it did not name", ["a"], ["a", "b"], true],
  ["only its own", ["a"], ["a"], false],
  ["anything, and runs everything", [EVERY_DEFINITION], ["b"], false],
  ["anything, and names nothing", undefined, ["b"], false],
])("[ENG-pin-2] a service that got %s", (_, definitions, hashes, isMixed) => {
  const { served, pass } = open();
  served.took(KEY, definitions, hashes);
  expect(served.isMixed(KEY)).toBe(isMixed);
  pass(MINUTE);
  expect(served.isMixed(KEY)).toBe(false);
});
