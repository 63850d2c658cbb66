import { expect, test } from "vitest";
import { runLimited } from "./limited.ts";

const KEYS = ["a", "b", "c", "d"] as const;

const outcomesOf = async (results: ReadonlyMap<string, Promise<string>>): Promise<readonly unknown[]> =>
  (await Promise.allSettled(results.values())).map((outcome) =>
    outcome.status === "fulfilled" ? outcome.value : (outcome.reason as Error).message,
  );

test("pieces run a few at a time, and each has its own result", async () => {
  let running = 0;
  let most = 0;
  const results = runLimited(KEYS, { atOnce: 2 }, async (key) => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running -= 1;
    if (key === "c") throw new RangeError("c broke");
    return key.toUpperCase();
  });
  expect(await outcomesOf(results)).toEqual(["A", "B", "c broke", "D"]);
  expect(most).toBe(2);
});

test.each([
  ["the others go on", 2, ["A", "b did not end within 0.02 s", "C", "D"]],
  [
    "when every place has hung nothing else is begun",
    1,
    ["A", "b did not end within 0.02 s", "c was not begun: b did not end", "d was not begun: b did not end"],
  ],
])("a piece that hangs is ended and named; %s", async (_what, atOnce, expected) => {
  const ended: string[] = [];
  const results = runLimited(KEYS, { atOnce, pieceMs: 20 }, (key, signal) => {
    if (key !== "b") return Promise.resolve(key.toUpperCase());
    signal.addEventListener("abort", () => ended.push(key));
    return new Promise<string>(() => {});
  });
  expect(await outcomesOf(results)).toEqual(expected);
  expect(ended).toEqual(["b"]);
});
