// The limits of a project as they are typed: `--concurrency 20 --rate 50/1s --queue none`. The server checks their values.

import { parseDuration } from "./duration.ts";
import { WrongUsage } from "./wrong-usage.ts";

export interface LimitFlags {
  readonly concurrency?: string | undefined;
  readonly rate?: string | undefined;
  readonly queue?: string | undefined;
}

/** Takes a limit away. */
const NONE = "none";

const readCount = (flag: string, text: string): number | null => {
  if (text === NONE) return null;
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new WrongUsage(`--${flag} is a number from 1 on, or ${NONE}`);
  return count;
};

const readRate = (text: string): { readonly limit: number; readonly per_seconds: number } | null => {
  if (text === NONE) return null;
  const [limit, time, ...rest] = text.split("/");
  if (limit === undefined || time === undefined || rest.length > 0)
    throw new WrongUsage(`--rate is written as 50/1s: so many calls in so long; or ${NONE}`);
  return { limit: readCount("rate", limit) ?? 0, per_seconds: parseDuration(time, "--rate") / 1_000 };
};

/** Only what was typed changes. */
export const readLimits = ({ concurrency, rate, queue }: LimitFlags): Readonly<Record<string, unknown>> => ({
  ...(concurrency === undefined ? {} : { concurrency: readCount("concurrency", concurrency) }),
  ...(rate === undefined ? {} : { rate: readRate(rate) }),
  ...(queue === undefined ? {} : { queue: readCount("queue", queue) }),
});
