import { expect, test } from "vitest";
import { joinReads } from "./join-reads.ts";

test("reads asked for together are one; those that come while it runs are the next", async () => {
  const reads: number[][] = [];
  const gates: (() => void)[] = [];
  const read = joinReads<number, string>({
    maxItems: 3,
    read: async (asks) => {
      reads.push([...asks]);
      await new Promise<void>((resolve) => gates.push(resolve));
      return asks.map(String);
    },
  });
  const first = [1, 2].map(read);
  await Promise.resolve();
  const second = [3].map(read);
  await Promise.resolve();
  const third = [4, 5, 6, 7].map(read);
  expect(reads).toEqual([[1, 2], [3]]);
  while (gates.length > 0 || reads.length < 4) {
    gates.shift()?.();
    await Promise.resolve();
  }
  expect(await Promise.all([...first, ...second, ...third])).toEqual(["1", "2", "3", "4", "5", "6", "7"]);
  expect(reads).toEqual([[1, 2], [3], [4, 5, 6], [7]]);
});

test("one that cannot be read fails alone", async () => {
  const read = joinReads<number, number>({
    maxItems: 10,
    read: async (asks) => {
      if (asks.includes(2)) throw new RangeError("two");
      return asks;
    },
  });
  const outcomes = await Promise.allSettled([1, 2, 3].map(read));
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});
