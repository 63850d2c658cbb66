// What the charts show of the time before the page was opened: counted from the calls that were listed. Pure.

import { type CallRow, isOver } from "./call-rows.ts";
import { SECONDS, type Second } from "./rates.ts";

const secondOf = (time: string): number | undefined => {
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1_000);
};

/**
 * The seconds before `first`. A list that is full (`isWhole` is false) says nothing about the time before its oldest call, so
 * nothing is claimed about it.
 */
export const planPastSeconds = (rows: readonly CallRow[], first: number, isWhole: boolean): readonly Second[] => {
  const begins = rows.map(({ createdAt }) => secondOf(createdAt) ?? first);
  const from = Math.max(first - SECONDS + 1, isWhole ? 0 : Math.min(first, ...begins));
  const seconds = Array.from({ length: Math.max(0, first - from) }, (_, at) => ({
    at: from + at,
    ended: 0,
    failed: 0,
    spans: [] as number[],
    queued: 0,
    running: 0,
  }));
  for (const { createdAt, startedAt, settledAt, status } of rows) {
    const [began, ran, ended] = [secondOf(createdAt), secondOf(startedAt), secondOf(settledAt)];
    if (began === undefined) continue;
    const isSettled = isOver(status) && ended !== undefined;
    for (const second of seconds) {
      if (second.at < began || (isSettled && second.at >= ended)) continue;
      if (ran !== undefined && ran <= second.at) second.running += 1;
      else second.queued += 1;
    }
    const last = isSettled ? seconds[ended - from] : undefined;
    if (last === undefined) continue;
    last.ended += 1;
    if (status === "failed" || status === "timeout") last.failed += 1;
    last.spans.push(Math.max(0, Date.parse(settledAt) - Date.parse(createdAt)));
  }
  return seconds;
};
