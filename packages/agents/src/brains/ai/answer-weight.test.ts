import { expect, test } from "vitest";
import { createAnswerWeight } from "./answer-weight.ts";

const event = (text: string): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: text } }] } }] })}\n\n`;

/** Whether an answer of so many of these lines is let through; in pieces of an odd size. */
const passes = (line: string, count: number, inEvents: boolean): boolean => {
  const weigh = createAnswerWeight(inEvents);
  const bytes = Buffer.from(line.repeat(count));
  try {
    for (let at = 0; at < bytes.length; at += 1_001) weigh(bytes.subarray(at, at + 1_001));
    return true;
  } catch {
    return false;
  }
};

test("[STALL-7] what small events say is added up, their frames are not", () => {
  expect(passes(event("words of a model"), 200_000, true)).toBe(true);
  expect(passes(event("0,0,0,0,"), 20_000, true)).toBe(true);
  expect(passes(event("0,0,0,0,"), 30_000, true)).toBe(false);
  expect(passes(event('{"a":'), 110_000, true)).toBe(false);
});

test("[STALL-7] a quote in a text does not end it, and the end of a line does", () => {
  expect(passes(event('\\"\\\\,'), 110_000, true)).toBe(false);
  expect(passes('data: "a\n', 200_000, true)).toBe(true);
});

test("[STALL-7] an answer in one piece has no frames", () => {
  expect(passes("[0,", 40_000, false)).toBe(true);
  expect(passes("[0,", 60_000, false)).toBe(false);
});
