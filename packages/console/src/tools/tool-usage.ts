// How a tool did lately, from its newest calls. Pure.

import { isOver, type ListedCall } from "../calls/call-rows.ts";
import { percentile } from "../calls/rates.ts";
import { spanBetween } from "../parts/span-text.ts";

export interface Usage {
  readonly calls: number;
  readonly open: number;
  /** Of those that ended, from 0 to 1; undefined when none ended. */
  readonly failedShare: number | undefined;
  readonly medianMs: number | undefined;
  readonly slowMs: number | undefined;
  /** The codes of failures, most frequent first. */
  readonly codes: readonly (readonly [string, number])[];
}

export const planUsage = (calls: readonly ListedCall[]): Usage => {
  const ended = calls.filter(({ status }) => isOver(status));
  const failed = ended.filter(({ status }) => status === "failed" || status === "timeout");
  const spans = ended
    .map(({ created_at, settled_at }) => spanBetween(created_at, settled_at))
    .filter((span) => span !== undefined);
  const codes = new Map<string, number>();
  for (const { error_code } of failed) if (error_code !== null) codes.set(error_code, (codes.get(error_code) ?? 0) + 1);
  return {
    calls: calls.length,
    open: calls.length - ended.length,
    failedShare: ended.length === 0 ? undefined : failed.length / ended.length,
    medianMs: percentile(spans, 0.5),
    slowMs: percentile(spans, 0.95),
    codes: [...codes].toSorted((a, b) => b[1] - a[1]),
  };
};
