import { expect, test } from "vitest";
import { type OpenGate, planRefusals, type Trials } from "./plan-refusal.ts";

const NONE: Trials = { running_since_ms: null, lingering_since_ms: null, waiting_since_ms: null };
const gate = (index: number, more: Partial<OpenGate> = {}): OpenGate => ({
  index,
  gate: { projectId: "p", gate: "tool" },
  sinceMs: 0,
  untilMs: 10_000,
  nowMs: 20_000,
  trials: NONE,
  ...more,
});
const said = (count: number, open: readonly OpenGate[]) => planRefusals(count, open).map((one) => one?.detail);

test("BN1: before its time is over, an open breaker refuses and says when the trial may run", () => {
  expect(said(2, [gate(0, { nowMs: 8_500 })])).toEqual([
    {
      of: "tool",
      since: "1970-01-01T00:00:00.000Z",
      closes_at: "1970-01-01T00:00:10.000Z",
      retry_after_seconds: 2,
    },
    undefined,
  ]);
});

test.each<[string, Partial<Trials>, number]>([
  ["runs", { running_since_ms: 17_500 }, 3],
  ["has run for long", { running_since_ms: 10_000 }, 10],
  ["has just begun by another clock", { running_since_ms: 20_100 }, 1],
  ["was canceled and still runs", { lingering_since_ms: 15_000 }, 5],
  ["waits", { waiting_since_ms: 19_000 }, 1],
])("BN2: while a trial %s, a call is refused, and no time is promised", (_, trials, seconds) => {
  expect(said(1, [gate(0, { trials: { ...NONE, ...trials } })])).toMatchObject([
    { closes_at: null, retry_after_seconds: seconds },
  ]);
});

test("BN3: of calls that are asked for together the first is the trial, unless another gate refuses it", () => {
  expect(said(3, [gate(0), gate(1), gate(2)])).toMatchObject([undefined, { closes_at: null }, { closes_at: null }]);
  const target = { projectId: "p", gate: "/target/t" };
  expect(said(2, [gate(0), gate(0, { gate: target, nowMs: 9_000 }), gate(1)])).toMatchObject([
    { of: "target t", retry_after_seconds: 1 },
    undefined,
  ]);
});
