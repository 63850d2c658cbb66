import fc from "fast-check";
import { expect, test } from "vitest";
import { type FeedView, planFeed } from "./plan-feed.ts";

const LIMITS = { pool: 3, inFlight: 4, bytesInFlight: 1_000 };
const ready = (change: Partial<FeedView> = {}): FeedView => ({
  state: "ready",
  inFlight: 0,
  bytes: 0,
  cancels: true,
  ...change,
});

test.each<[string, readonly FeedView[], { feed: number | undefined; start: boolean }]>([
  ["nobody there: one is started", [], { feed: undefined, start: true }],
  ["one on its way is enough for one call", [ready({ state: "starting" })], { feed: undefined, start: false }],
  ["an idle one is taken and nothing started", [ready({ inFlight: 2 }), ready()], { feed: 1, start: false }],
  [
    "the one with the least, and another is started",
    [ready({ inFlight: 3 }), ready({ inFlight: 1 })],
    { feed: 1, start: true },
  ],
  ["one that cannot cancel has one", [ready({ cancels: false, inFlight: 1 })], { feed: undefined, start: true }],
  ["full ones are not fed", [ready({ inFlight: 4 })], { feed: undefined, start: true }],
  ["neither are those with many bytes", [ready({ inFlight: 1, bytes: 1_000 })], { feed: undefined, start: true }],
  ["but a large call passes when it is alone", [ready({ bytes: 9_999 })], { feed: 0, start: false }],
  [
    "nor those that drain or stop; they count",
    [ready({ state: "draining" }), ready({ state: "stopping" }), ready({ state: "stopping" })],
    { feed: undefined, start: false },
  ],
])("[HOST-4-17] %s", (_name, views, expected) => {
  expect(planFeed(views, LIMITS, 1, false)).toEqual(expected);
});

test("[HOST-4-4] the probe is alone: one call, one process", () => {
  expect(planFeed([ready({ inFlight: 1 })], LIMITS, 5, true)).toEqual({ feed: undefined, start: false });
  expect(planFeed([ready()], LIMITS, 5, true)).toEqual({ feed: 0, start: false });
  expect(planFeed([ready({ state: "starting" })], LIMITS, 5, true)).toEqual({ feed: undefined, start: false });
});

const view = fc.record<FeedView>({
  state: fc.constantFrom("starting", "ready", "draining", "stopping"),
  inFlight: fc.nat(5),
  bytes: fc.nat(2_000),
  cancels: fc.boolean(),
});

test("[HOST-4-17] [HOST-4-3] never over a limit, whoever is there", () => {
  fc.assert(
    fc.property(
      fc.array(view, { maxLength: 4 }),
      fc.integer({ min: 1, max: 10 }),
      fc.boolean(),
      (views, waiting, probing) => {
        const { feed, start } = planFeed(views, LIMITS, waiting, probing);
        if (start) expect(views.length).toBeLessThan(LIMITS.pool);
        if (start) expect(views.filter(({ state }) => state === "starting").length).toBeLessThan(waiting);
        if (feed === undefined) return;
        const fed = views[feed] as FeedView;
        expect(fed.state).toBe("ready");
        expect(fed.inFlight).toBeLessThan(fed.cancels ? LIMITS.inFlight : 1);
        if (probing) expect(views.every(({ inFlight }) => inFlight === 0)).toBe(true);
        const usable = views.filter((other) => other.state === "ready" && other.bytes < LIMITS.bytesInFlight);
        if (fed.inFlight > 0) expect(usable.some(({ inFlight }) => inFlight === 0)).toBe(false);
      },
    ),
  );
});
