import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createRota } from "./rota.ts";

test("[LIM-door-3] a crowd of readers has its turn a few at a time, in order, and other work comes between", async () => {
  const turns = createRota(3);
  const went: number[] = [];
  const readers = Array.from({ length: 8 }, async (_, reader) => {
    await turns.take();
    went.push(reader);
  });
  const seen: number[] = [];
  while (went.length < 8) {
    await turn();
    seen.push(went.length);
  }
  await Promise.all(readers);
  expect(went).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  // Three at once, and three more after each round of other work.
  expect(seen.every((count, round) => count <= 3 * (round + 2))).toBe(true);
  // A reader alone does not wait.
  await turn();
  await turns.take();
});
