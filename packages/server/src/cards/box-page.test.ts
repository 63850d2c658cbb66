import { expect, test } from "vitest";
import { planBoxPage } from "./box-page.ts";

const box = ["a", "b", "a", "c"];

test("pages go from the newest cards back to the first, each card once per place", () => {
  expect(planBoxPage(box, 3, undefined)).toEqual({ cardIds: ["b", "a", "c"], start: 1 });
  expect(planBoxPage(box, 3, "1")).toEqual({ cardIds: ["a"], start: 0 });
  expect(planBoxPage([], 3, undefined)).toEqual({ cardIds: [], start: 0 });
});

test.each(["5", "-1", "x", "1.5"])("the cursor %s is refused", (cursor) => {
  expect(() => planBoxPage(box, 3, cursor)).toThrow("the cursor is not of this box");
});
