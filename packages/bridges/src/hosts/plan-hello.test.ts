import { describe, expect, test } from "vitest";
import { planHelloAgain } from "./plan-hello.ts";

describe("planHelloAgain", () => {
  test.each([
    ["a quick start: the host was silent", 200, 1_000, undefined],
    ["a slow start: asked again, with twice the patience", 1_500, 1_000, 3_000],
    ["a very slow start: half the startup time at most", 8_000, 1_000, 5_000],
    ["no more patience to give", 8_000, 5_000, undefined],
  ])("[HOST-4-18] %s", (_name, firstAnswerMs, helloMs, expected) => {
    expect(planHelloAgain({ firstAnswerMs, helloMs, startupMs: 10_000 })).toBe(expected);
  });
});
