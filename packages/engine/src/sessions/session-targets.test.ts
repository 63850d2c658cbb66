import { expect, test } from "vitest";
import type { Doorbell } from "../ports/doorbell.ts";
import { createSessionTargets } from "./session-targets.ts";

const KEY = { projectId: "p", target: "t" };

const open = () => {
  let now = 1_000;
  let heard: (from: "here" | "elsewhere") => void = () => {};
  const doorbell: Doorbell = {
    ring: () => {},
    listen(kind, listener) {
      expect(kind).toBe("sessions");
      heard = listener;
      return () => {
        heard = () => {};
      };
    },
    close: () => Promise.resolve(),
  };
  const clock = { now: () => now, sleep: () => Promise.resolve() };
  const targets = createSessionTargets({ doorbell, clock });
  return { targets, ring: () => heard("elsewhere"), pass: (ms: number) => (now += ms) };
};

test("a pair is quiet after a look that found nothing, and no other pair is", () => {
  const { targets } = open();
  expect(targets.isQuiet(KEY)).toBe(false);
  targets.hush(KEY, targets.look());
  expect(targets.isQuiet(KEY)).toBe(true);
  expect(targets.isQuiet({ ...KEY, target: "other" })).toBe(false);
});

test("a ring ends the quiet, also one that comes while the look is under way", () => {
  const { targets, ring } = open();
  targets.hush(KEY, targets.look());
  ring();
  expect(targets.isQuiet(KEY)).toBe(false);
  const look = targets.look();
  ring();
  targets.hush(KEY, look);
  expect(targets.isQuiet(KEY)).toBe(false);
});

test.each([
  ["a second passes", 1_000],
  ["the clock is set back", -1],
])("quiet ends when %s: a ring may have been lost", (_what, ms) => {
  const { targets, pass } = open();
  targets.hush(KEY, targets.look());
  pass(999 * Math.sign(Math.max(ms, 0)));
  expect(targets.isQuiet(KEY)).toBe(true);
  pass(ms > 0 ? 1 : ms);
  expect(targets.isQuiet(KEY)).toBe(false);
});

test("a pair that has had sessions is known", () => {
  const { targets } = open();
  expect(targets.knows(KEY)).toBe(false);
  targets.learn(KEY);
  expect(targets.knows(KEY)).toBe(true);
});
