// Rounds to tables: the median of the rounds, and the spread of what is noisy.

import type { TableCounts } from "./counters.ts";
import type { Sample } from "./round.ts";

export const median = (values: readonly number[]): number => {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
};

export interface Measured {
  readonly variant: string;
  readonly adds: string;
  readonly samples: readonly Sample[];
}

export const medianOf = ({ samples }: Measured, pick: (sample: Sample) => number): number => median(samples.map(pick));

const spreadOf = ({ samples }: Measured, pick: (sample: Sample) => number): string => {
  const values = samples.map(pick);
  return `${Math.round(Math.min(...values))}-${Math.round(Math.max(...values))}`;
};

export const formatTable = (rows: readonly (readonly string[])[]): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  "),
    )
    .join("\n");
};

const perCall = (sample: Sample, total: number): number => total / sample.done;
const rate = (sample: Sample): number => sample.perSecond;
const times = (value: number, base: number): string => `${(value / base).toFixed(2)}x`;

export const levelTable = (measured: readonly Measured[]): string => {
  const [floor] = measured;
  const header = [
    "variant",
    "calls/s",
    "(rounds)",
    "of floor",
    "p50 ms",
    "p99 ms",
    "node ms",
    "pg ms",
    "cpu of floor",
    "statements",
    "commits",
    "wal syncs",
    "wal kB",
  ];
  const cpu = (sample: Sample): number => sample.nodeMs + sample.serverMs;
  const rows = measured.map((one) => [
    one.variant,
    medianOf(one, rate).toFixed(0),
    spreadOf(one, rate),
    floor === undefined ? "" : times(medianOf(one, rate), medianOf(floor, rate)),
    medianOf(one, (sample) => sample.p50Ms).toFixed(2),
    medianOf(one, (sample) => sample.p99Ms).toFixed(2),
    medianOf(one, (sample) => sample.nodeMs).toFixed(3),
    medianOf(one, (sample) => sample.serverMs).toFixed(3),
    floor === undefined ? "" : times(medianOf(one, cpu), medianOf(floor, cpu)),
    medianOf(one, (sample) => perCall(sample, sample.counts.statements)).toFixed(3),
    medianOf(one, (sample) => perCall(sample, sample.counts.commits)).toFixed(3),
    medianOf(one, (sample) => perCall(sample, sample.counts.walSyncs)).toFixed(3),
    medianOf(one, (sample) => perCall(sample, sample.counts.walBytes) / 1024).toFixed(2),
  ]);
  return formatTable([header, ...rows]);
};

const writtenOf = ({ inserted, updated, hotUpdated, deleted }: TableCounts, calls: number): string => {
  const parts: string[] = [];
  const say = (count: number, word: string): void => {
    if (count / calls >= 0.005) parts.push(`${(count / calls).toFixed(2)} ${word}`);
  };
  say(inserted, "ins");
  say(updated, "upd");
  say(hotUpdated, "of them hot");
  say(deleted, "del");
  return parts.join(", ");
};

/** Rows written per call and table, summed over all rounds. */
export const rowsTable = (measured: readonly Measured[]): string => {
  const lines: string[][] = [["variant", "rows written per call"]];
  for (const { variant, samples } of measured) {
    const totals = new Map<string, TableCounts>();
    for (const { counts } of samples) {
      for (const [name, one] of counts.tables) {
        const sum = totals.get(name) ?? { inserted: 0, updated: 0, hotUpdated: 0, deleted: 0 };
        totals.set(name, {
          inserted: sum.inserted + one.inserted,
          updated: sum.updated + one.updated,
          hotUpdated: sum.hotUpdated + one.hotUpdated,
          deleted: sum.deleted + one.deleted,
        });
      }
    }
    const calls = samples.reduce((sum, { done }) => sum + done, 0);
    const tables = [...totals]
      .map(([name, counts]) => [name, writtenOf(counts, calls)] as const)
      .filter(([, text]) => text !== "")
      .map(([name, text]) => `${name}: ${text}`);
    lines.push([variant, tables.sort().join("; ")]);
  }
  return lines.map(([name, text]) => `${(name ?? "").padEnd(24)}${text}`).join("\n");
};

/** What a promise costs: each variant against the one it builds on. */
export const promiseTable = (
  levels: ReadonlyMap<number, readonly Measured[]>,
  pairs: readonly (readonly [string, string])[],
): string => {
  const header = ["promise", "in flight", "calls/s", "p50", "node ms", "pg ms", "wal syncs", "wal bytes"];
  const rows: string[][] = [];
  for (const [base, name] of pairs) {
    for (const [level, measured] of levels) {
      const from = measured.find(({ variant }) => variant === base);
      const to = measured.find(({ variant }) => variant === name);
      if (from === undefined || to === undefined) continue;
      const ratio = (pick: (sample: Sample) => number): string => times(medianOf(to, pick), medianOf(from, pick));
      rows.push([
        `${to.adds} (${name} / ${base})`,
        String(level),
        ratio(rate),
        ratio((sample) => sample.p50Ms),
        ratio((sample) => sample.nodeMs),
        ratio((sample) => sample.serverMs),
        ratio((sample) => perCall(sample, sample.counts.walSyncs)),
        ratio((sample) => perCall(sample, sample.counts.walBytes)),
      ]);
    }
  }
  return formatTable([header, ...rows]);
};
