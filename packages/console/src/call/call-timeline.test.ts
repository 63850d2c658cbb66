import { describe, expect, test } from "vitest";
import { planTimeline } from "./call-timeline.ts";

const T0 = "2026-11-16T10:00:00.000Z";
const ms = (offset: number): string => new Date(Date.parse(T0) + offset).toISOString();
const NOW = Date.parse(T0) + 10_000;

const call = { status: "success", created_at: T0, settled_at: ms(1_000), leases: [] };
const lease = (attempt: number, from: number, to: number | null, ended: string | null) => ({
  attempt,
  holder: `service-${attempt}`,
  started_at: ms(from),
  ended_at: to === null ? null : ms(to),
  ended,
});

const shape = (timeline: ReturnType<typeof planTimeline>) =>
  timeline.stretches.map(({ label, fromMs, toMs, isOpen }) => [label, toMs - fromMs, isOpen]);

describe("the timeline of a call", () => {
  test("waits, runs, and its agent goes on", () => {
    const timeline = planTimeline({ ...call, leases: [lease(1, 200, 1_000, "settled")] }, NOW, ms(1_500));
    expect(shape(timeline)).toEqual([
      ["waits", 200, false],
      ["attempt 1 runs", 800, false],
      ["the agent goes on", 500, false],
    ]);
    expect(timeline.stretches[1]).toMatchObject({ tone: "good", note: "service-1 gave its result" });
    expect(timeline.stretches[2]?.left).toBeCloseTo(1_000 / 1_500);
  });

  test("a lost attempt, a second wait and a second attempt", () => {
    const leases = [lease(1, 0, 300, "lapsed"), lease(2, 500, 1_000, "settled")];
    expect(shape(planTimeline({ ...call, leases }, NOW))).toEqual([
      ["attempt 1 runs", 300, false],
      ["waits again", 200, false],
      ["attempt 2 runs", 500, false],
    ]);
  });

  test("an attempt without the name of its service is told without one", () => {
    const nameless = { ...lease(1, 0, 1_000, "settled"), holder: null };
    expect(planTimeline({ ...call, leases: [nameless] }, NOW).stretches[0]?.note).toBe("a service gave its result");
  });

  test.each([
    ["queued", "waits"],
    ["awaiting_approval", "waits for a person"],
  ])("a %s call waits until now", (status, label) => {
    const timeline = planTimeline({ ...call, status, settled_at: null }, NOW);
    expect(shape(timeline)).toEqual([[label, 10_000, true]]);
    expect(timeline.stretches[0]).toMatchObject({ left: 0, width: 1 });
  });

  test("a running call runs until now", () => {
    const running = { ...call, status: "running", settled_at: null, leases: [lease(1, 100, null, null)] };
    expect(shape(planTimeline(running, NOW))).toEqual([
      ["waits", 100, false],
      ["attempt 1 runs", 9_900, true],
    ]);
  });

  test("a clock of another machine makes no negative stretch, and nothing leaves the axis", () => {
    const odd = { ...call, settled_at: ms(-500), leases: [lease(1, 200, 100, "settled")] };
    for (const { left, width, fromMs, toMs } of planTimeline(odd, Date.parse(T0)).stretches) {
      expect(toMs).toBeGreaterThanOrEqual(fromMs);
      expect(left).toBeGreaterThanOrEqual(0);
      expect(left).toBeLessThan(1);
      expect(width).toBeGreaterThan(0);
    }
  });
});
