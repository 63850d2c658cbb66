import { expect, test } from "vitest";
import { fitWhole, shift, zoomAt } from "./zoom.ts";

test("a drawing fits into its box and is never enlarged for it", () => {
  expect(fitWhole(1_000, 100, 500, 300)).toEqual({ scale: 0.5, x: 0, y: 125 });
  expect(fitWhole(100, 100, 500, 300)).toMatchObject({ scale: 1 });
});

test("the point under the pointer stays where it is", () => {
  const look = zoomAt({ scale: 1, x: 10, y: 20 }, 2, 110, 220);
  expect(look).toEqual({ scale: 2, x: -90, y: -180 });
  expect(zoomAt(look, 0.5, 110, 220)).toEqual({ scale: 1, x: 10, y: 20 });
});

test("the scale has bounds", () => {
  expect(zoomAt({ scale: 4, x: 0, y: 0 }, 2, 0, 0).scale).toBe(4);
  expect(zoomAt({ scale: 0.1, x: 0, y: 0 }, 0.1, 0, 0).scale).toBe(0.1);
  expect(shift({ scale: 1, x: 0, y: 0 }, 5, -5)).toEqual({ scale: 1, x: 5, y: -5 });
});
