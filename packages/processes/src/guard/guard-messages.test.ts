import fc from "fast-check";
import { expect, test } from "vitest";
import { createLineSplitter } from "./guard-messages.ts";

const split = (chunks: readonly string[]): string[] => {
  const lines: string[] = [];
  const push = createLineSplitter((line) => lines.push(line));
  for (const chunk of chunks) push(chunk);
  return lines;
};

test("lines are the same however the bytes arrive; an unfinished one is not a line", () => {
  const line = fc.string({ minLength: 1 }).filter((text) => !text.includes("\n"));
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(200)), fc.string(), (lines, cuts, unfinished) => {
      const rest = unfinished.replaceAll("\n", "");
      const whole = lines.map((text) => `${text}\n`).join("") + rest;
      const places = [0, ...cuts.map((cut) => cut % (whole.length + 1)), whole.length].sort((a, b) => a - b);
      const chunks = places.slice(1).map((end, index) => whole.slice(places[index], end));
      expect(split(chunks)).toEqual(lines);
    }),
  );
});

test("empty lines are nothing", () => {
  expect(split(["\n\na\n", "\nb", "\n"])).toEqual(["a", "b"]);
});
