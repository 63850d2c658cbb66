import { expect, test } from "vitest";
import { hearSilence } from "./hear-silence.ts";
import type { Timers } from "./timers.ts";

/** Time that goes by itself: the next timer is always due. */
const listen = (cpuAt: (now: number) => number | undefined, lateMs = 0, stopAt = Number.POSITIVE_INFINITY) => {
  let now = 0;
  let due: { readonly at: number; readonly run: () => void } | undefined;
  const after = (ms: number, run: () => void) => {
    due = { at: now + ms + lateMs, run };
    return () => {
      due = undefined;
    };
  };
  const timers: Timers = { now: () => now, after, afterQuietly: after };
  let heardAt: number | undefined;
  const callOff = hearSilence(timers, { silentMs: 1_000, atMostMs: 5_000, cpuTime: () => cpuAt(now) }, () => {
    heardAt = now;
  });
  while (due !== undefined && due.at < stopAt) {
    const { at, run } = due;
    due = undefined;
    now = at;
    run();
  }
  callOff();
  return { heardAt, isWaiting: due !== undefined };
};

test.each<[string, (now: number) => number | undefined, number, number]>([
  ["it never works", () => 7, 0, 1_000],
  ["the system does not say", () => undefined, 0, 1_000],
  ["it works for two seconds first", (now) => Math.min(now, 2_000), 0, 3_000],
  ["it works without end", (now) => now, 0, 5_000],
])("[HOST-4-18] %s", (_what, cpuAt, lateMs, heardAt) => {
  expect(listen(cpuAt, lateMs)).toEqual({ heardAt, isWaiting: false });
});

test("[HOST-4-18] a machine that stood still, we with it: what it did meanwhile is seen first", () => {
  // The first look comes three seconds late, and the process has worked by then.
  const { heardAt } = listen((now) => (now > 0 ? 9 : 0), 3_000);
  expect(heardAt).toBeGreaterThan(4_000);
});

test("an answer ends the listening", () => {
  expect(listen(() => 7, 0, 600)).toEqual({ heardAt: undefined, isWaiting: false });
});
