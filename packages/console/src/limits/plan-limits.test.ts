import { expect, test } from "vitest";
import type { LimitBody } from "./limit-body.ts";
import { limitWords, planLimitLights } from "./plan-limits.ts";

const limit = (tool_name: string | null, more: Partial<LimitBody> = {}): LimitBody => ({
  tool_name,
  target: null,
  limits: { concurrency: 1 },
  running: 1,
  lingering: 0,
  waiting: 0,
  held_by: null,
  next_at: null,
  breaker_opened_at: null,
  ...more,
});
const full = { held_by: "concurrency", waiting: 3 } as const;
const open = { held_by: "breaker", waiting: 2, breaker_opened_at: "2026-11-16T10:00:00.000Z" } as const;

test.each([
  ["no limit", [], []],
  ["room", [limit("a"), limit(null)], [["good", "2 limits", undefined]]],
  ["one is reached", [limit("a", full), limit("b")], [["warn", "a is at its limit, 3 wait", "a"]]],
  ["a full one at which no call waits", [limit("a", { ...full, waiting: 0 })], [["good", "1 limit", "a"]]],
  ["a target's", [limit(null, { ...open, target: "web" })], [["bad", "breaker of target web is open", undefined]]],
  ["the project's own", [limit(null, full)], [["warn", "the project is at its limit, 3 wait", undefined]]],
  [
    "an open breaker comes first, and is said once",
    [limit("a", open), limit("b", full), limit("c", full)],
    [
      ["bad", "breaker of a is open", "a"],
      ["warn", "2 limits are reached", undefined],
    ],
  ],
] as const)("%s", (_name, items, lights) => {
  expect(planLimitLights(items).map(({ tone, text, tool }) => [tone, text, tool])).toEqual(lights);
});

test("the words of one limit", () => {
  expect(limitWords(limit("a"))).toBe("There is room: 1 run, 0 wait.");
  expect(limitWords(limit("a", full))).toBe("All slots are taken: 1 run, 3 wait.");
});
