import { expect, test } from "vitest";
import { createRefusedWrites } from "./refused-writes.ts";

type Event = ["failed" | "succeeded", string, string?] | ["later", number];

const FULL = "53100";

test.each<[string, readonly Event[], boolean]>([
  ["nothing happened", [], false],
  ["a disk is full", [["failed", "calls.insert", FULL]], true],
  ["a server became a copy", [["failed", "calls.insert", "25006"]], true],
  ["a connection broke", [["failed", "calls.insert", "ECONNRESET"]], false],
  ["a rule was broken", [["failed", "calls.insert", "23505"]], false],
  [
    "a question is answered",
    [
      ["failed", "calls.insert", FULL],
      ["succeeded", "now"],
    ],
    true,
  ],
  [
    "the same is taken again",
    [
      ["failed", "calls.insert", FULL],
      ["succeeded", "calls.insert"],
    ],
    false,
  ],
  [
    "another form of it is taken",
    [
      ["failed", "calls.insert", FULL],
      ["succeeded", "calls.insert/queued"],
    ],
    false,
  ],
  [
    "nobody tried for a while",
    [
      ["failed", "calls.insert", FULL],
      ["later", 15_000],
    ],
    false,
  ],
  [
    "the clock is set back an hour",
    [
      ["failed", "calls.insert", FULL],
      ["later", -3_600_000],
    ],
    false,
  ],
  [
    "it is refused again and again",
    [
      ["failed", "calls.insert", FULL],
      ["later", 14_000],
      ["failed", "calls.insert", FULL],
      ["later", 14_000],
    ],
    true,
  ],
])("[UP-5-6] %s", (_what, events, refusing) => {
  let now = 0;
  const writes = createRefusedWrites({ now: () => now, sleep: () => Promise.resolve() });
  for (const event of events) {
    if (event[0] === "later") now += event[1];
    else if (event[0] === "failed") writes.failed(event[1], { code: event[2] });
    else writes.succeeded(event[1]);
  }
  expect(writes.refusing()).toBe(refusing);
});
