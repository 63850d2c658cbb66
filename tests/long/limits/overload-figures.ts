// Figures of runs with too much work, in the form of the record.

import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

export const megabytes = (pid: number): number => {
  const [, kilobytes = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Math.round(Number(kilobytes) / 1024);
};

export const middle = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

export const say = (what: string, figures: object): void =>
  void process.stdout.write(
    `| ${what} | ${Object.entries(figures)
      .map(([name, value]) => `${name} ${value}`)
      .join(", ")} |\n`,
  );

/** The memory of a process each second while `isOn`. */
export const watchMemory = async (pid: number, isOn: () => boolean): Promise<readonly number[]> => {
  const seen = [megabytes(pid)];
  while (isOn()) {
    await delay(1_000);
    seen.push(megabytes(pid));
  }
  return seen;
};

/** At most ten of them, for a line of the record. */
export const tenOf = (values: readonly number[]): string =>
  values.filter((_, index) => index % Math.max(Math.ceil(values.length / 10), 1) === 0).join(" ");

export const LONGEST_BACK_MS = 60_000;

/** Seconds until calls take about as long as before: at most twice as long and 20 ms. */
export const backToNormal = async (
  normal: number,
  latency: () => Promise<number>,
): Promise<{ readonly after: number; readonly seconds: number }> => {
  const over = performance.now();
  let after = Number.POSITIVE_INFINITY;
  while (after > 2 * normal + 20 && performance.now() - over < LONGEST_BACK_MS) after = await latency();
  return { after, seconds: Math.round((performance.now() - over) / 100) / 10 };
};
