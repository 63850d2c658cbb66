// The options of `consume` with every default filled in and every bound checked, once for all adapters.

import { isToken, parsePattern, type SubjectPattern, UsageError, violation } from "@toolplane/protocol";
import { CONSUMER_DEFAULTS, type StreamCategory } from "@toolplane/protocol/agents";
import type { ConsumeOptions, DeliverFrom } from "./bus.ts";

export interface ConsumePlan {
  readonly durable: string;
  readonly pattern: SubjectPattern;
  readonly category: StreamCategory;
  readonly deliver: DeliverFrom;
  readonly batch: number;
  readonly maxInFlight: number;
  readonly ackWaitMs: number;
  readonly maxDeliver: number;
  readonly backoff: readonly number[];
}

const CATEGORY_TOKEN = 4;

/** JetStream keeps durables in file names and refuses longer ones. */
const MAX_DURABLE_LENGTH = 64;

/** Beyond it one consumer would hold more claimed messages than it could settle within any sensible ack wait. */
const MAX_IN_FLIGHT = 10_000;

/** A day: longer waits belong in a table with a due time, not in a consumer. */
const MAX_WAIT_MS = 24 * 60 * 60 * 1000;

const MAX_DELIVER = 1_000_000;

const inRange = (name: string, value: number, min: number, max: number): number => {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new UsageError(`${name} must be an integer from ${min} to ${max}`);
};

const checkedDurable = (durable: string): string => {
  if (isToken(durable) && durable.length <= MAX_DURABLE_LENGTH) return durable;
  throw new UsageError(`a durable's name is 1 to ${MAX_DURABLE_LENGTH} of the characters A-Z a-z 0-9 _ -`);
};

/** The pattern; refuses one that can only match another category. */
const checkedPattern = (text: string, category: StreamCategory): SubjectPattern => {
  const pattern = parsePattern(text);
  const token = pattern.tokens[CATEGORY_TOKEN];
  const open = token === undefined || token === "*" || token === ">";
  if (!open && token !== category) throw violation(`pattern is about ${token} subjects, not ${category}`);
  return pattern;
};

export const planConsume = (options: ConsumeOptions): ConsumePlan => ({
  durable: checkedDurable(options.durable),
  pattern: checkedPattern(options.pattern, options.category),
  category: options.category,
  deliver: options.deliver ?? CONSUMER_DEFAULTS.deliverPolicy,
  batch: inRange("batch", options.batch ?? CONSUMER_DEFAULTS.pullBatch, 1, MAX_IN_FLIGHT),
  maxInFlight: inRange("maxInFlight", options.maxInFlight ?? CONSUMER_DEFAULTS.maxInFlight, 1, MAX_IN_FLIGHT),
  ackWaitMs: inRange("ackWaitMs", options.ackWaitMs ?? CONSUMER_DEFAULTS.ackWaitSeconds * 1000, 1, MAX_WAIT_MS),
  maxDeliver: inRange("maxDeliver", options.maxDeliver ?? CONSUMER_DEFAULTS.maxDeliver, 1, MAX_DELIVER),
  backoff: (options.backoff ?? []).map((delay) => inRange("backoff", delay, 0, MAX_WAIT_MS)),
});

/** How long to wait after the given failed attempt (1 is the first). */
export const planBackoff = (backoff: readonly number[], attempt: number): number =>
  backoff[Math.min(attempt, backoff.length) - 1] ?? 0;

/** A delay given to `nak`, as whole milliseconds in bounds. */
export const planDelay = (delayMs: number | undefined): number =>
  inRange("a nak's delay", Math.ceil(delayMs ?? 0), 0, MAX_WAIT_MS);
