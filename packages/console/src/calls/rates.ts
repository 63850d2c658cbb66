// What the small charts show: per second how many calls ended and failed, how long they took, how many are open. Kept for two
// minutes. Pure.

import type { CallEvent } from "../events/call-event.ts";
import { type CallRows, isOver } from "./call-rows.ts";

export const SECONDS = 120;

export interface Second {
  readonly at: number;
  readonly ended: number;
  readonly failed: number;
  readonly spans: readonly number[];
  readonly queued: number;
  readonly running: number;
}

const empty = (at: number, before: Second | undefined): Second => ({
  at,
  ended: 0,
  failed: 0,
  spans: [],
  queued: before?.queued ?? 0,
  running: before?.running ?? 0,
});

/** Spans of one second that are kept; a percentile of more is the same. */
const MOST_SPANS = 500;
const ENDS: ReadonlySet<string> = new Set(["settled", "canceled", "dead"]);

/** Moves the window to `now` and adds what ended since. `rows` are the calls after these events. */
export const planSeconds = (
  seconds: readonly Second[],
  events: readonly CallEvent[],
  rows: CallRows,
  now: number,
): readonly Second[] => {
  const current = Math.floor(now / 1_000);
  const next: Second[] = seconds.filter(({ at }) => at > current - SECONDS);
  const start = Math.max((next.at(-1)?.at ?? current - 1) + 1, current - SECONDS + 1);
  for (let at = start; at <= current; at += 1) next.push(empty(at, next.at(-1)));
  const ends = events.filter(({ phase }) => ENDS.has(phase));
  let [queued, running] = [0, 0];
  for (const id of rows.order) {
    const status = rows.byId.get(id)?.status ?? "";
    if (status === "running") running += 1;
    else if (!isOver(status)) queued += 1;
  }
  const last = next.pop() ?? empty(current, undefined);
  const spans = ends
    .map(({ toolCallId, at }) => Date.parse(at) - Date.parse(rows.byId.get(toolCallId)?.createdAt ?? ""))
    .filter((span) => Number.isFinite(span) && span >= 0);
  next.push({
    ...last,
    ended: last.ended + ends.length,
    failed: last.failed + ends.filter(({ status }) => status === "failed" || status === "timeout").length,
    spans: [...last.spans, ...spans].slice(-MOST_SPANS),
    queued,
    running,
  });
  return next;
};

/** The value below which `share` of the values are; undefined of none. */
export const percentile = (values: readonly number[], share: number): number | undefined => {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
};

interface Spread {
  readonly median: number | null;
  readonly slow: number | null;
}

const spreads = new WeakMap<Second, Spread>();

/** Counted once for each second: a second that is over never changes. */
const spreadOf = (second: Second | undefined): Spread => {
  if (second === undefined) return { median: null, slow: null };
  const known = spreads.get(second);
  if (known !== undefined) return known;
  const spread = { median: percentile(second.spans, 0.5) ?? null, slow: percentile(second.spans, 0.95) ?? null };
  spreads.set(second, spread);
  return spread;
};

export interface ChartData {
  readonly times: readonly number[];
  readonly ended: readonly number[];
  readonly failed: readonly number[];
  readonly median: readonly (number | null)[];
  readonly slow: readonly (number | null)[];
  readonly queued: readonly number[];
  readonly running: readonly number[];
}

/** One column for each second of the window, so that the charts never jump. */
export const chartData = (seconds: readonly Second[], now: number): ChartData => {
  const current = Math.floor(now / 1_000);
  const known = new Map(seconds.map((second) => [second.at, second]));
  const times = Array.from({ length: SECONDS }, (_, back) => current - SECONDS + 1 + back);
  const pick = <Value>(read: (second: Second | undefined) => Value): readonly Value[] =>
    times.map((at) => read(known.get(at)));
  return {
    times,
    ended: pick((second) => second?.ended ?? 0),
    failed: pick((second) => second?.failed ?? 0),
    median: pick((second) => spreadOf(second).median),
    slow: pick((second) => spreadOf(second).slow),
    queued: pick((second) => second?.queued ?? 0),
    running: pick((second) => second?.running ?? 0),
  };
};
