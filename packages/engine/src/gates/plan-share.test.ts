import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ceilingOf, floorOf, planShare } from "./plan-share.ts";

const PLACES = 200_000;

/** Each project in turn makes calls until it is refused; round after round, until nobody is let in. */
const flood = (projects: number): readonly number[] => {
  const own = Array<number>(projects).fill(0);
  const sum = (): number => own.reduce((all, one) => all + one, 0);
  for (let isMoving = true; isMoving; ) {
    isMoving = false;
    for (let index = 0; index < projects; index++)
      while ((own[index] ?? 0) < planShare(PLACES, { open: sum(), byProject: new Map() })) {
        own[index] = (own[index] ?? 0) + 100;
        isMoving = true;
      }
  }
  return own;
};

describe("[LIM-plane-1] the share of a project", () => {
  test("one project alone takes half of the places, and the next ones find room", () => {
    expect(flood(1)).toEqual([100_000]);
    expect(flood(3)).toEqual([100_000, 50_000, 25_000]);
    expect(flood(12).every((own) => own >= floorOf(PLACES))).toBe(true);
  });

  test("a project with few calls is let in below twice the places, whatever the others have", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: 0, max: 2_000_000 }), (places, open) => {
        const share = planShare(places, { open, byProject: new Map() });
        expect(share > 0).toBe(open < ceilingOf(places));
        expect(share).toBeLessThanOrEqual(Math.max(places, floorOf(places)));
      }),
    );
  });
});
