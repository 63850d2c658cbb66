import { burstOf } from "@toolplane/protocol";
import { expect, test } from "vitest";
import { BREAKER, gateState } from "../../test/gate-state.ts";
import type { GateLimits, GateState } from "./gate.ts";
import { LATE_MS, planRoom, planTokens, spend } from "./plan-room.ts";

const NOW = 1_000_000;

const gate = (limits: GateLimits, more: Partial<GateState> = {}): GateState =>
  gateState("t", limits, { nowMs: NOW, ...more });

const RATE = { limit: 20, per_seconds: 1 };

test.each<[string, GateState, number, string | undefined, number | undefined]>([
  ["no limit", gate({}), Number.POSITIVE_INFINITY, undefined, undefined],
  ["free slots", gate({ concurrency: 5 }, { running: 3 }), 2, "concurrency", undefined],
  ["no free slot: a bell says when", gate({ concurrency: 5 }, { running: 5 }), 0, "concurrency", undefined],
  ["more run than the limit that was lowered", gate({ concurrency: 2 }, { running: 5 }), 0, "concurrency", undefined],
  ["a full bucket", gate({ rate: RATE }), 1, "rate", 0],
  ["an empty bucket: the next token is 50 ms away", gate({ rate: RATE }, { fullAtMs: NOW + 50 }), 0, "rate", 50],
  [
    "a burst that was asked for is not passed by lateness",
    gate({ rate: { limit: 1_000, per_seconds: 1, burst: 1 } }, { fullAtMs: NOW - 99 }),
    1,
    "rate",
    0,
  ],
  ["a burst", gate({ rate: { ...RATE, burst: 4 } }), 4, "rate", 0],
  ["the narrowest counts", gate({ concurrency: 3, rate: { ...RATE, burst: 9 } }), 3, "concurrency", undefined],
  ["a closed breaker", gate({ breaker: BREAKER }), Number.POSITIVE_INFINITY, undefined, undefined],
  ["an open breaker", gate({ breaker: BREAKER }, { openUntilMs: NOW + 700 }), 0, "breaker", 700],
  ["a trial when its time is over", gate({ breaker: BREAKER }, { openUntilMs: NOW }), 1, "breaker", undefined],
  ["one trial at a time", gate({ breaker: BREAKER }, { openUntilMs: NOW, trials: 1 }), 0, "breaker", undefined],
  [
    "a run from before is not a trial",
    gate({ breaker: BREAKER }, { openUntilMs: NOW, running: 3 }),
    1,
    "breaker",
    undefined,
  ],
  [
    "a breaker that was taken away",
    gate({}, { openUntilMs: NOW + 700 }),
    Number.POSITIVE_INFINITY,
    undefined,
    undefined,
  ],
])("[LIM-room-1] how many may pass: %s", (_what, state, room, blockedBy, nextMs) => {
  expect(planRoom(state)).toEqual({ room, blockedBy, nextMs });
});

test("[LIM-room-2] whatever is taken whenever, no window has more than its tokens and one burst", () => {
  const rate = { limit: 20, per_seconds: 1, burst: 5 };
  const starts: number[] = [];
  let fullAtMs: number | null = null;
  for (let nowMs = 0; nowMs < 5_000; nowMs += 7) {
    const { tokens } = planTokens(rate, fullAtMs, nowMs);
    const taken = Math.min(tokens, nowMs % 3);
    if (taken > 0) fullAtMs = spend(rate, fullAtMs, nowMs, taken);
    for (let one = 0; one < taken; one++) starts.push(nowMs);
  }
  for (const from of starts)
    expect(starts.filter((at) => at >= from && at < from + 1_000).length).toBeLessThanOrEqual(25 + LATE_MS / 50);
  // It is also used: 5 s of 20 calls.
  expect(starts.length).toBeGreaterThanOrEqual(95);
});

test("[LIM-room-2] calls that start late do not slow down the rate, and a pause gives no credit", () => {
  let fullAtMs: number | null = null;
  let nowMs = 0;
  let starts = 0;
  for (; nowMs < 10_000; nowMs += 10) {
    const { tokens, nextMs } = planTokens(RATE, fullAtMs, nowMs);
    if (tokens === 0) {
      // Each claim takes 40 ms more than it should.
      nowMs += Math.ceil(nextMs) + 40;
      continue;
    }
    fullAtMs = spend(RATE, fullAtMs, nowMs, tokens);
    starts += tokens;
  }
  expect(starts).toBeGreaterThanOrEqual(195);
  expect(starts).toBeLessThanOrEqual(203);
  expect(planTokens(RATE, fullAtMs, nowMs + 60_000).tokens).toBe(1);
});

test.each([
  [{ limit: 20, per_seconds: 1 }, "delay", 1],
  [{ limit: 1_000, per_seconds: 1 }, "delay", 50],
  [{ limit: 100, per_seconds: 3_600 }, "delay", 1],
  [{ limit: 100, per_seconds: 3_600, burst: 100 }, "delay", 100],
  [{ limit: 50, per_seconds: 1 }, "refuse", 50],
  [{ limit: 50, per_seconds: 1, burst: 3 }, "refuse", 3],
] as const)("[LIM-room-2] calls at once of %o where they are to %s", (rate, how, burst) => {
  expect(burstOf(rate, how)).toBe(burst);
});
