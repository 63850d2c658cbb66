// The parts of the match that need no database: who waits for a look, and in which order services are asked.

import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { systemClock } from "../ports/clock.ts";
import { createHandover } from "./handover.ts";
import type { LeasedCall } from "./take-calls.ts";

const AT = { projectId: "p", target: "t" };
const WANTED = { ...AT, definitionHash: "d", pin: null, free: true, retrySafe: true };
const place = (holder: string) => ({ ...AT, holder, max: 1, wake: () => {} });
const never = new Promise<void>(() => {});

test("[ENG-match-5] calls of a target wait for the look of a service that stands there, and others do not", async () => {
  const handover = createHandover(systemClock.now);
  const seat = handover.sit(place("a"), { room: () => 2 });
  const found = Promise.withResolvers<readonly LeasedCall[]>();
  const looking = seat.look(() => found.promise);
  const said: string[] = [];
  const calm = handover.calm([AT]).then(() => said.push("calm"));
  await handover.calm([{ ...AT, target: "other" }]);
  said.push("other");
  expect(handover.reserve([WANTED]).holders).toEqual([undefined]);
  found.resolve([]);
  await looking;
  await calm;
  expect(said).toEqual(["other", "calm"]);
  expect(handover.reserve([WANTED]).holders).toEqual(["a"]);
});

test("[ENG-match-5] a service that looks without end keeps no call waiting for ever", async () => {
  const handover = createHandover(systemClock.now);
  const seat = handover.sit(place("a"), { room: () => 2 });
  let isOver = false;
  const lookAgain = async (): Promise<void> => {
    while (!isOver) await seat.look(() => turn([]));
  };
  const looking = lookAgain();
  await handover.calm([AT]);
  isOver = true;
  await looking;
  expect(handover.reserve([WANTED]).holders).toEqual(["a"]);
});

test("[ENG-match-5] services that stand take turns, flush by flush", () => {
  const handover = createHandover(systemClock.now);
  for (const holder of ["a", "b"]) void handover.sit(place(holder), { room: () => 2 }).rest(never);
  const flush = (): readonly (string | undefined)[] => {
    const reserved = handover.reserve([WANTED, WANTED]);
    reserved.hand([]);
    return reserved.holders;
  };
  expect([flush(), flush(), flush()]).toEqual([
    ["a", "a"],
    ["b", "b"],
    ["a", "a"],
  ]);
});
