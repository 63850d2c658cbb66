// Limits as they are typed: `--concurrency 20 --rate 50/s --burst 5 --breaker 0.5/60s/30s --queue none`. The server checks their values.

import { parseDuration, tryParseDuration } from "./duration.ts";
import { WrongUsage } from "./wrong-usage.ts";

export interface LimitFlags {
  readonly concurrency?: string | undefined;
  readonly rate?: string | undefined;
  readonly burst?: string | undefined;
  readonly breaker?: string | undefined;
  readonly queue?: string | undefined;
}

/** Takes a limit away. */
const NONE = "none";

const readCount = (flag: string, text: string): number => {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new WrongUsage(`--${flag} is a number from 1 on, or ${NONE}`);
  return count;
};

/** `50/1s`, and `50/s` for it. */
const readRate = (text: string, burst: string | undefined): object => {
  const [limit, time, ...rest] = text.split("/");
  const each = time === undefined ? undefined : (tryParseDuration(`1${time}`) ?? tryParseDuration(time));
  if (limit === undefined || time === undefined || each === undefined || rest.length > 0)
    throw new WrongUsage(`--rate is written as 50/s or 50/10s: so many calls in so long; or ${NONE}`);
  const isUnit = tryParseDuration(time) === undefined;
  return {
    limit: readCount("rate", limit),
    per_seconds: (isUnit ? each : parseDuration(time, "--rate")) / 1_000,
    ...(burst === undefined ? {} : { burst: readCount("burst", burst) }),
  };
};

const readBreaker = (text: string): object => {
  const [rate = "", window, open, ...rest] = text.split("/");
  const failureRate = Number(rate);
  if (window === undefined || open === undefined || rest.length > 0 || !(failureRate > 0 && failureRate <= 1))
    throw new WrongUsage(
      `--breaker is written as 0.5/60s/30s: it opens when half of the runs of 60 s failed, for 30 s; or ${NONE}`,
    );
  return {
    failure_rate: failureRate,
    window_seconds: parseDuration(window, "--breaker") / 1_000,
    open_seconds: parseDuration(open, "--breaker") / 1_000,
  };
};

/** Only what was typed changes. `breakerKey`: what the breaker is called there. */
export const readLimits = (flags: LimitFlags, breakerKey: string): Readonly<Record<string, unknown>> => {
  const { concurrency, rate, burst, breaker, queue } = flags;
  if (burst !== undefined && (rate === undefined || rate === NONE))
    throw new WrongUsage("--burst goes with --rate, such as: --rate 50/s --burst 10");
  const read = (text: string, value: (text: string) => unknown): unknown => (text === NONE ? null : value(text));
  return {
    ...(concurrency === undefined ? {} : { concurrency: read(concurrency, (text) => readCount("concurrency", text)) }),
    ...(rate === undefined ? {} : { rate: read(rate, (text) => readRate(text, burst)) }),
    ...(breaker === undefined ? {} : { [breakerKey]: read(breaker, readBreaker) }),
    ...(queue === undefined ? {} : { queue: read(queue, (text) => readCount("queue", text)) }),
  };
};
