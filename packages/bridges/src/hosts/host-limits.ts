// Every limit of a host, with its default and the reason for it.

import { MAX_JSON_BYTES, UsageError } from "@toolplane/protocol";

export interface HostLimits {
  /** Processes at once. */
  readonly pool: number;
  /** Requests at once in one process that can cancel; a process that cannot cancel gets one at a time. */
  readonly inFlight: number;
  /** Calls that wait for a process; one more is `rate_limited`. */
  readonly queue: number;
  /** Bytes of requests that one process has not answered; one request always passes. */
  readonly bytesInFlight: number;
  readonly lineBytes: number;
  /** From the start of a process to its answer to init. */
  readonly startupMs: number;
  /** How long an idle process may take to answer hello; a silent one is started again as plain v1. */
  readonly helloMs: number;
  /** For a call without a deadline of its own. */
  readonly callMs: number;
  /** From cancel to killing, and from SIGTERM to SIGKILL. */
  readonly graceMs: number;
  /** While calls are stuck: a process that does not even answer a ping for this long is killed at once. */
  readonly unresponsiveMs: number;
  /** A process without work is stopped after this. */
  readonly idleMs: number;
  /** Requests sent for one call, the first included. */
  readonly attempts: number;
  readonly backoffBaseMs: number;
  readonly backoffMaxMs: number;
  /** So many crashes within the window open the breaker. */
  readonly breakerCrashes: number;
  readonly breakerWindowMs: number;
  /** How long it stays open before a probe. */
  readonly breakerOpenMs: number;
  /** Parts of one call that are passed on; further ones are dropped. */
  readonly parts: number;
  readonly partBytes: number;
  /** What is read from stderr per second; a host that writes more waits. */
  readonly stderrBytesPerSecond: number;
  /** Lines of stderr that become log lines per second; the rest is counted. */
  readonly stderrLinesPerSecond: number;
}

export const DEFAULT_HOST_LIMITS: HostLimits = {
  pool: 1,
  // Enough to keep a host busy that waits for other systems; few enough that one crash does not lose hundreds of calls.
  inFlight: 64,
  queue: 1_000,
  // Two of the longest lines: large calls overlap, a burst of them does not fill the memory.
  bytesInFlight: 32 * 1024 * 1024,
  lineBytes: MAX_JSON_BYTES,
  startupMs: 10_000,
  helloMs: 1_000,
  callMs: 30_000,
  graceMs: 1_000,
  unresponsiveMs: 5_000,
  // Longer than the pauses of a conversation, shorter than a night.
  idleMs: 300_000,
  attempts: 3,
  // A process takes about this long to start; waiting less would only burn processor time.
  backoffBaseMs: 100,
  backoffMaxMs: 10_000,
  breakerCrashes: 5,
  breakerWindowMs: 60_000,
  breakerOpenMs: 30_000,
  // A stream that a person could read has fewer; an endless loop has more.
  parts: 10_000,
  partBytes: 16 * 1024 * 1024,
  stderrBytesPerSecond: 4 * 1024 * 1024,
  stderrLinesPerSecond: 100,
};

/** A JavaScript timer with a longer delay fires at once. */
const MAX_MS = 2 ** 31 - 1;

const isCount = (name: string): boolean => !name.endsWith("Ms");

export const createHostLimits = (given: Partial<HostLimits> = {}): HostLimits => {
  const limits = { ...DEFAULT_HOST_LIMITS };
  for (const [name, value] of Object.entries(given) as [keyof HostLimits, number | undefined][]) {
    if (value === undefined) continue;
    if (!Object.hasOwn(DEFAULT_HOST_LIMITS, name)) throw new UsageError(`there is no host limit ${name}`);
    const least = isCount(name) && name !== "queue" ? 1 : 0;
    if (!Number.isFinite(value) || value < least) throw new UsageError(`host limit ${name} must be ${least} or more`);
    (limits as Record<keyof HostLimits, number>)[name] = isCount(name) ? Math.floor(value) : Math.min(value, MAX_MS);
  }
  return limits;
};
