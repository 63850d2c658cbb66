import { expect, test } from "vitest";
import { planAdvice, whyWords } from "./why-words.ts";

const NOW = new Date(2026, 10, 17, 0, 17, 43);
const later = (hours: number): string => new Date(NOW.getTime() + hours * 3_600_000).toISOString();

test("times are as clocks show them, spans as people say them", () => {
  expect(whyWords(`the call waits 4 s already and gives up at ${later(24)} (in 86396 s)`, NOW)).toBe(
    "The call waits 4 s already and gives up at 2026-11-18 00:17:43 (in 1 d)",
  );
  expect(whyWords(`it waits for a person to approve it, until ${later(1)}`, NOW)).toBe(
    "It waits for a person to approve it, until 01:17:43",
  );
  expect(whyWords("it failed 9000 s ago with tool_error: 12 s", NOW)).toBe(
    "It failed 2 h 30 min ago with tool_error: 12 s",
  );
});

test.each([
  ["start a service for target printer", "Start a service for target printer", undefined],
  ["toolplane calls approve 01a1", "On the command line:", "toolplane calls approve 01a1"],
  ["make it again with: toolplane calls retry 01a1", "Make it again with:", "toolplane calls retry 01a1"],
  [
    "see the cause with: toolplane calls show 1, and look before you make it again with: toolplane calls retry 1",
    "See the cause with: toolplane calls show 1, and look before you make it again with:",
    "toolplane calls retry 1",
  ],
  [
    "make it again with: toolplane calls retry 1; look into the log of its service",
    "Make it again with: toolplane calls retry 1; look into the log of its service",
    undefined,
  ],
])("the advice %j", (todo, words, command) => {
  expect(planAdvice(todo)).toEqual({ words, command });
});
