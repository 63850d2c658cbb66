import { expect, test } from "vitest";
import type { CallRow } from "./call-rows.ts";
import { planPastSeconds } from "./past-seconds.ts";

const T0 = 1_800_000_000;
const at = (seconds: number): string => new Date((T0 + seconds) * 1_000).toISOString();
const row = (id: string, more: Partial<CallRow>): CallRow => ({
  id,
  toolName: "echo",
  agentId: "sys.api",
  turnId: "t",
  status: "success",
  errorCode: "",
  attempts: 1,
  createdAt: at(0),
  startedAt: "",
  settledAt: "",
  ...more,
});

test("calls of the last two minutes are counted where they waited, ran and ended", () => {
  const rows = [
    row("a", { createdAt: at(1), startedAt: at(2), settledAt: at(4.5) }),
    row("b", { createdAt: at(2), settledAt: at(2.25), status: "failed" }),
    row("c", { createdAt: at(3), status: "queued" }),
    row("old", { createdAt: at(-500), startedAt: at(-500), settledAt: at(-499) }),
  ];
  const seconds = planPastSeconds(rows, T0 + 6, true);
  expect(seconds).toHaveLength(119);
  expect(seconds.slice(-6).map(({ queued, running, ended, failed }) => [queued, running, ended, failed])).toEqual([
    [0, 0, 0, 0],
    [1, 0, 0, 0],
    [0, 1, 1, 1],
    [1, 1, 0, 0],
    [1, 0, 1, 0],
    [1, 0, 0, 0],
  ]);
  expect(seconds.flatMap(({ spans }) => spans)).toEqual([250, 3_500]);
});

test("a list that is full claims nothing about the time before its oldest call", () => {
  const rows = [row("a", { createdAt: at(3), settledAt: at(4) })];
  expect(planPastSeconds(rows, T0 + 6, false).map((second) => second.at - T0)).toEqual([3, 4, 5]);
  expect(planPastSeconds([], T0 + 6, false)).toEqual([]);
});
