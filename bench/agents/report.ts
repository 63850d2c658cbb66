// Rounds to tables: everything per turn, and for turns with calls the whole path in calls per second.

import { formatTable, type Measured, medianOf } from "../engine/report.ts";
import type { Sample } from "../engine/round.ts";

export interface MeasuredTurns extends Measured {
  readonly calls: number;
}

const HEADER = [
  "turn",
  "turns/s",
  "calls/s",
  "p50 ms",
  "p99 ms",
  "node ms",
  "pg ms",
  "statements",
  "commits",
  "wal syncs",
  "wal kB",
];

export const turnTable = (measured: readonly MeasuredTurns[]): string => {
  const rows = measured.map((one) => {
    const median = (pick: (sample: Sample) => number): number => medianOf(one, pick);
    const rate = median(({ perSecond }) => perSecond);
    const counts = (pick: (sample: Sample) => number): string =>
      median((sample) => pick(sample) / sample.done).toFixed(2);
    return [
      one.variant,
      rate.toFixed(0),
      one.calls === 0 ? "" : (rate * one.calls).toFixed(0),
      median(({ p50Ms }) => p50Ms).toFixed(1),
      median(({ p99Ms }) => p99Ms).toFixed(1),
      median(({ nodeMs }) => nodeMs).toFixed(2),
      median(({ serverMs }) => serverMs).toFixed(2),
      counts((sample) => sample.counts.statements),
      counts((sample) => sample.counts.commits),
      counts((sample) => sample.counts.walSyncs),
      counts((sample) => sample.counts.walBytes / 1024),
    ];
  });
  return formatTable([HEADER, ...rows]);
};
