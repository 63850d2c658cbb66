import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEFAULT_HOST_LIMITS } from "./host-limits.ts";
import { NO_CRASHES, planAnswered, planCrash, planStart, type RestartState } from "./plan-restart.ts";

const LIMITS = DEFAULT_HOST_LIMITS;

const crashAt = (times: readonly number[], from: RestartState = NO_CRASHES): RestartState =>
  times.reduce((state, at) => planCrash(state, at, LIMITS, 1), from);

describe("backoff", () => {
  test("[HOST-4-5] the wait doubles with every crash in a row, up to the maximum", () => {
    const waits: number[] = [];
    let state = NO_CRASHES;
    // Far enough apart that the breaker has no opinion.
    for (let i = 0; i < 10; i += 1) {
      const now = i * 100_000;
      state = planCrash(state, now, LIMITS, 1);
      waits.push(state.notBefore - now);
    }
    expect(waits).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000]);
  });

  test("[HOST-4-5] chance takes at most half of it", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 0.999, noNaN: true }), fc.integer({ min: 1, max: 60 }), (chance, row) => {
        const { notBefore } = planCrash({ ...NO_CRASHES, row: row - 1 }, 0, LIMITS, chance);
        const full = Math.min(LIMITS.backoffMaxMs, LIMITS.backoffBaseMs * 2 ** (row - 1));
        expect(notBefore).toBeGreaterThanOrEqual(full / 2);
        expect(notBefore).toBeLessThanOrEqual(full);
      }),
    );
  });

  test("[HOST-4-5] an answered call ends the row, and the crashes stay in the window", () => {
    const state = planAnswered(crashAt([0, 1_000]));
    expect(state).toMatchObject({ row: 0, notBefore: 0, crashes: [0, 1_000], breaker: "closed" });
    expect(planStart(state, 1_001).kind).toBe("start");
    expect(planStart(crashAt([0]), 99)).toEqual({ kind: "wait", ms: 1 });
  });
});

describe("breaker", () => {
  test("[HOST-4-4] five crashes within sixty seconds open it, answered calls in between or not", () => {
    expect(crashAt([0, 10_000, 20_000, 30_000]).breaker).toBe("closed");
    expect(crashAt([0, 10_000, 20_000, 30_000, 59_999]).breaker).toBe("open");
    expect(crashAt([0, 10_000, 20_000, 30_000, 60_000]).breaker).toBe("closed");
    const answered = [10_000, 20_000, 30_000, 40_000].reduce(
      (state, at) => planCrash(planAnswered(state), at, LIMITS, 0),
      crashAt([0]),
    );
    expect(answered.breaker).toBe("open");
  });

  test("[HOST-4-4] an open one refuses until its time is over, then lets a probe through", () => {
    const open = crashAt([1, 2, 3, 4, 5]);
    expect(planStart(open, 30_004)).toEqual({ kind: "refuse", ms: 1 });
    expect(planStart(open, 30_005)).toMatchObject({ kind: "start", state: { breaker: "half_open" } });
    expect(planAnswered(open)).toBe(open);
  });

  test("[HOST-4-4] the probe closes it by an answer and opens it by a crash", () => {
    const plan = planStart(crashAt([1, 2, 3, 4, 5]), 40_000);
    if (plan.kind !== "start") throw new TypeError("no probe");
    expect(planAnswered(plan.state)).toEqual(NO_CRASHES);
    expect(planCrash(plan.state, 200_000, LIMITS, 0)).toMatchObject({ breaker: "open", notBefore: 230_000 });
  });

  test("[HOST-4-4] whatever happens: bounded memory, no start inside a wait, never five starts within a window that crash", () => {
    const event = fc.oneof(
      fc.record({ kind: fc.constant("crash" as const), after: fc.nat(30_000) }),
      fc.record({ kind: fc.constant("answered" as const), after: fc.nat(30_000) }),
      fc.record({ kind: fc.constant("start" as const), after: fc.nat(30_000) }),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        let state = NO_CRASHES;
        let now = 0;
        for (const { kind, after } of events) {
          now += after;
          if (kind === "crash") state = planCrash(state, now, LIMITS, 0.5);
          else if (kind === "answered") state = planAnswered(state);
          else {
            const plan = planStart(state, now);
            expect(plan.kind === "start").toBe(now >= state.notBefore);
            if (plan.kind === "start") state = plan.state;
          }
          expect(state.crashes.length).toBeLessThanOrEqual(LIMITS.breakerCrashes);
          const recent = state.crashes.filter((at) => now - at < LIMITS.breakerWindowMs).length;
          if (recent >= LIMITS.breakerCrashes) expect(state.breaker).not.toBe("closed");
        }
      }),
    );
  });
});
