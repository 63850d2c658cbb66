// Limits as they are typed: `--concurrency 20 --rate 50/s --burst 5 --breaker 0.5/60s/30s --queue none`. The server checks their values.

import { isRecord, isToolplaneError, ToolplaneError } from "@toolplane/protocol";
import { type Api, type Body, pathOf } from "@toolplane/sdk/client";
import { itemsOf, shortTime, textOf } from "./body.ts";
import { tryParseDuration } from "./duration.ts";
import type { Field } from "./output.ts";
import { jsonText } from "./plain-text.ts";
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

const HOW = {
  rate: `--rate is written as 50/s or 50/10s: so many calls, from 1 on, in so long; or ${NONE}`,
  breaker: `--breaker is written as 0.5/60s/30s, or ${NONE}; 0.5/60s/30s opens it for 30 s when half of the runs within 60 s failed`,
} as const;

const tryReadCount = (text: string): number | undefined => {
  const count = Number(text);
  return Number.isInteger(count) && count >= 1 ? count : undefined;
};

const readCount = (flag: string, text: string): number => {
  const count = tryReadCount(text);
  if (count === undefined) throw new WrongUsage(`--${flag} takes a whole number from 1 on, or ${NONE}`);
  return count;
};

/** `50/1s`, and `50/s` for it. */
const readRate = (text: string, burst: string | undefined): object => {
  const [limit = "", time = "", ...rest] = text.split("/");
  const count = tryReadCount(limit);
  const ms = time === "" ? undefined : (tryParseDuration(time) ?? tryParseDuration(`1${time}`));
  if (count === undefined || ms === undefined || rest.length > 0) throw new WrongUsage(HOW.rate);
  return {
    limit: count,
    per_seconds: ms / 1_000,
    // A rate replaces the whole rate of before, with its burst.
    ...(burst === undefined || burst === NONE ? {} : { burst: readCount("burst", burst) }),
  };
};

const readBreaker = (text: string): object => {
  const [rate = "", window = "", open = "", ...rest] = text.split("/");
  const failureRate = Number(rate);
  const [windowMs, openMs] = [tryParseDuration(window), tryParseDuration(open)];
  if (windowMs === undefined || openMs === undefined || rest.length > 0 || !(failureRate > 0 && failureRate <= 1))
    throw new WrongUsage(HOW.breaker);
  return { failure_rate: failureRate, window_seconds: windowMs / 1_000, open_seconds: openMs / 1_000 };
};

const readAll = (flags: LimitFlags, breakerKey: string): Readonly<Record<string, unknown>> => {
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

/**
 * The limits that were given as flags; the others stay as they are. `breakerKey`: the breaker's name in the request. `command`: the command whose
 * help is shown after a wrong flag.
 */
export const readLimits = (
  flags: LimitFlags,
  breakerKey: string,
  command: string,
): Readonly<Record<string, unknown>> => {
  try {
    return readAll(flags, breakerKey);
  } catch (error) {
    throw error instanceof WrongUsage ? new WrongUsage(error.message, command) : error;
  }
};

const REFUSED = /^[a-z ]+ is not valid: (?=\$\.)/;
const PLACE = /(?<=^|; )\$\.(?:limits\.)?(concurrency|queue|rate|breaker|target_breaker)(?:\.(\w+))?(?=: )/g;

const flagOf = (_place: string, key: string, part: string | undefined): string => {
  if (part === "burst") return "--burst";
  const flag = key === "target_breaker" ? "--breaker" : `--${key}`;
  return part === undefined ? flag : `${flag} (${part})`;
};

/** What the server says of a value, with the flag in place of the path in the request, which nobody typed. */
export const refuseByFlag = (thrown: unknown): never => {
  if (!isToolplaneError(thrown) || thrown.code !== "bad_request" || !REFUSED.test(thrown.message)) throw thrown;
  const message = thrown.message.replace(REFUSED, "").replace(PLACE, flagOf);
  if (!message.startsWith("--")) throw thrown;
  throw new ToolplaneError(thrown.code, message, { detail: thrown.detail, cause: thrown });
};

/** A limit as it is typed; what has no flag is JSON. */
export const limitText = (limit: unknown): string => {
  if (limit === null || limit === undefined) return NONE;
  if (!isRecord(limit)) return String(limit);
  const { limit: calls, per_seconds, burst, failure_rate, window_seconds, open_seconds } = limit;
  if (per_seconds !== undefined)
    return `${String(calls)}/${String(per_seconds)}s${burst === undefined ? "" : `, burst ${String(burst)}`}`;
  if (failure_rate !== undefined) return `${String(failure_rate)}/${String(window_seconds)}s/${String(open_seconds)}s`;
  return jsonText(limit);
};

/** What the limits of a tool do now; null: those of the project. Undefined when it has none, and for a token that may not read them. */
export const readLimitState = async (
  client: Pick<Api, "request">,
  project: string,
  tool: string | null,
): Promise<Body | undefined> => {
  let cursor: string | undefined;
  try {
    do {
      const query = { limit: "500", ...(cursor === undefined ? {} : { cursor }) };
      const page = await client.request({ path: pathOf("projects", project, "limits"), query });
      const found = itemsOf(page).find((one) => one.target === null && one.tool_name === tool);
      if (found !== undefined) return found;
      cursor = textOf(page, "next_cursor");
    } while (cursor !== undefined);
  } catch (error) {
    if (!isToolplaneError(error) || error.code !== "auth_failed") throw error;
  }
  return undefined;
};

export const stateFields = (state: Body | undefined): readonly Field[] =>
  state === undefined
    ? []
    : [
        ["running", state.running],
        ["waiting", state.waiting],
        ["held by", state.held_by],
        ["breaker open since", shortTime(state, "breaker_opened_at")],
        ["next may start at", shortTime(state, "next_at")],
      ];
