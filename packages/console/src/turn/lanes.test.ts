import { expect, test } from "vitest";
import { type Laned, planLanes } from "./lanes.ts";

const item = (id: string, fromMs: number, toMs: number | undefined): Laned => ({
  id,
  name: id,
  status: "success",
  fromMs,
  toMs,
});

test("calls at the same time have lanes of their own, later ones use a lane again", () => {
  const { bars, count } = planLanes([item("a", 0, 100), item("b", 10, 50), item("c", 60, 100), item("d", 100, 200)], 0);
  expect(bars.map(({ id, lane }) => [id, lane])).toEqual([
    ["a", 0],
    ["b", 1],
    ["c", 1],
    ["d", 0],
  ]);
  expect(count).toBe(2);
});

test("an open call reaches to now", () => {
  const { bars, endMs } = planLanes([item("a", 0, undefined)], 500);
  expect(endMs).toBe(500);
  expect(bars[0]).toMatchObject({ left: 0, width: 1 });
});

test("no bar leaves the axis or covers another one of its lane", () => {
  const many = Array.from({ length: 200 }, (_, at) => item(`c${at}`, (at * 37) % 1_000, (at * 37) % 1_000));
  const { bars } = planLanes(many, 1_000);
  const ends = new Map<number, number>();
  for (const { lane, left, width } of bars) {
    expect(left).toBeGreaterThanOrEqual((ends.get(lane) ?? 0) - 1e-9);
    expect(left + width).toBeLessThanOrEqual(1 + 1e-9);
    ends.set(lane, left + width);
  }
});

test("nothing is not a lane", () => {
  expect(planLanes([], 0)).toMatchObject({ bars: [], count: 0 });
});
