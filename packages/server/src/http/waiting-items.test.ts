import { expect, test } from "vitest";
import { createWaitingItems } from "./waiting-items.ts";

const item = (payload: string) => ({ subject: "s", payload });

test("[SEC-memory-readers] items that wait are bounded in number and in size, oldest dropped first", () => {
  const items = createWaitingItems();
  for (let n = 0; n < 1_500; n += 1) items.push(item(String(n)));
  expect(items.takeAll().map(({ payload }) => Number(payload))).toEqual(
    Array.from({ length: 1_000 }, (_, n) => n + 500),
  );
  const half = "x".repeat(500_000);
  for (const letter of "abcd") items.push(item(letter + half));
  expect(items.takeAll().map(({ payload }) => payload[0])).toEqual(["c", "d"]);
  items.push(item("x".repeat(2_000_000)));
  expect(items.isEmpty()).toBe(true);
});
