import { expect, test } from "vitest";
import type { CallEvent } from "../events/call-event.ts";
import { applyEvents, NO_ROWS } from "./call-rows.ts";
import { chartData, percentile, planSeconds, SECONDS } from "./rates.ts";

const T0 = Date.parse("2026-11-16T10:00:00.000Z");

const event = (id: string, phase: string, status: string, ms: number): CallEvent => ({
  toolCallId: id,
  turnId: "",
  agentId: "a",
  toolName: "t",
  phase,
  status,
  attempt: 1,
  errorCode: "",
  at: new Date(T0 + ms).toISOString(),
});

test("ends, failures, spans and open calls of a second", () => {
  const events = [
    event("a", "dispatched", "queued", 0),
    event("b", "dispatched", "queued", 0),
    event("c", "dispatched", "queued", 0),
    event("a", "settled", "success", 100),
    event("b", "leased", "running", 50),
    event("d", "settled", "failed", 60),
  ];
  const rows = applyEvents(NO_ROWS, events);
  const [second] = planSeconds([], events, rows, T0 + 500);
  expect(second).toMatchObject({ ended: 2, failed: 1, spans: [100], queued: 1, running: 1 });
});

test("the window moves on, and seconds without events keep what is open", () => {
  const events = [event("a", "dispatched", "queued", 0)];
  const rows = applyEvents(NO_ROWS, events);
  const first = planSeconds([], events, rows, T0);
  const later = planSeconds(first, [], rows, T0 + 3_000);
  expect(later.map(({ queued }) => queued)).toEqual([1, 1, 1, 1]);
  const far = planSeconds(first, [], rows, T0 + 1_000_000);
  expect(far.length).toBeLessThanOrEqual(SECONDS);
  expect(chartData(later, T0 + 3_000).queued).toHaveLength(SECONDS);
});

test("percentiles", () => {
  expect(percentile([], 0.5)).toBeUndefined();
  expect(percentile([3, 1, 2], 0.5)).toBe(2);
  expect(percentile([1], 0.95)).toBe(1);
});
