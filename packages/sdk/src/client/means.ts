// What the parts of a client share: the way to the plane, the clock, and retrying while the plane is away.

import { type Backoff, backoff, type ErrorCode, ToolplaneError, understandError } from "@toolplane/protocol";
import { askedFor, type FailedTry, mayPass, planRetry, type RetryPlan } from "../gateway/patience.ts";
import { type Clock, systemClock } from "../ports/clock.ts";
import type { Random } from "../ports/ids.ts";
import { givenUp } from "./api.ts";
import { StrangeAnswer } from "./strange-answer.ts";
import type { Body, Way } from "./way.ts";

export interface PlaneOptions {
  readonly way: Way;
  /** A new key; unique among all clients. */
  readonly makeKey: () => string;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  /** How long to try a plane that has never answered. */
  readonly startupMs?: number | undefined;
  /** Called for every failed try that is followed by another one. When it throws, there is no other one, and what it throws is the error. */
  readonly onRetry?: ((error: ToolplaneError) => void) | undefined;
}

/** A server that is restarting is back by then; if no server was ever started, the user should hear of it soon. */
const STARTUP_MS = 5_000;
/** How long to try a request whose result the caller does not wait for. */
export const HAND_OVER_MS = 10_000;
/** The longest single question. */
const SLICE_MS = 120_000;
/** When the server ends a wait much earlier than asked, it is about to stop. */
const EARLY = 0.5;
const EARLY_PAUSE_MS: Backoff = { first: 200, longest: 3_200 };

/** The server is gone, or it starts: it may be back before the time is over, whatever it asked for. */
const AWAY: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["upstream_unavailable", "storage_error"]);

/** As every gateway tries again, and once more when the time is over: the last pause is shortened to what is left. */
const planTry = (failed: FailedTry & { readonly until: number }, random: Random): RetryPlan => {
  const plan = planRetry(failed, random);
  const { error, now, until } = failed;
  const leftMs = until - now;
  if (plan.retry || leftMs <= 0 || !mayPass(error)) return plan;
  // A limit has said when there is room again: before that, another try would be refused too.
  return askedFor(error) <= leftMs || AWAY.has(error.code) ? { retry: true, waitMs: leftMs } : plan;
};

export interface Means {
  readonly way: Way;
  readonly clock: Clock;
  readonly makeKey: () => string;
  /** Tries until the operation succeeds, fails for good, or `untilMs` is reached; the last try is at `untilMs`. */
  insist<T>(untilMs: number, signal: AbortSignal | undefined, operation: () => Promise<T>): Promise<T>;
  /** From now on nothing is asked or tried again. */
  close(): void;
}

export const createMeans = (options: PlaneOptions): Means => {
  const { way, makeKey, clock = systemClock, random = Math.random, startupMs = STARTUP_MS, onRetry } = options;
  /** A program may make its client long before its first request. */
  let began: number | undefined;
  const closed = new AbortController();
  const isClosed = (): ToolplaneError => new ToolplaneError("canceled", "the client was closed");
  return {
    way,
    clock,
    makeKey,
    async insist(untilMs, signal, operation) {
      const isLeft = (): boolean => signal?.aborted === true;
      began ??= clock.now();
      for (let failures = 1; ; failures += 1) {
        if (isLeft()) throw givenUp();
        if (closed.signal.aborted) throw isClosed();
        try {
          return await operation();
        } catch (thrown) {
          if (isLeft()) throw givenUp(thrown);
          if (closed.signal.aborted) throw isClosed();
          const error = understandError(thrown);
          if (error instanceof StrangeAnswer) throw error;
          const until = way.isReached() ? untilMs : Math.min(untilMs, began + startupMs);
          const plan = planTry({ error, failures, now: clock.now(), until }, random);
          if (!plan.retry) throw error;
          onRetry?.(error);
          await clock.sleep(plan.waitMs, AbortSignal.any([closed.signal, ...(signal === undefined ? [] : [signal])]));
        }
      }
    },
    close: () => closed.abort(),
  };
};

/** Asks again until the thing asked for has ended or the time is over. */
export const askUntilOver = async (
  { clock, insist }: Means,
  waitMs: number,
  signal: AbortSignal | undefined,
  ask: (untilMs: number) => Promise<Body>,
  isOver: (body: Body) => boolean,
): Promise<Body> => {
  const untilMs = clock.now() + waitMs;
  for (let early = 1; ; early += 1) {
    const asked = clock.now();
    const slice = Math.min(Math.max(untilMs - asked, 0), SLICE_MS);
    const body = await insist(Math.max(untilMs, asked + (waitMs === 0 ? HAND_OVER_MS : 0)), signal, () =>
      ask(Math.min(untilMs, clock.now() + SLICE_MS)),
    );
    const now = clock.now();
    if (isOver(body) || now >= untilMs) return body;
    if (now - asked < slice * EARLY) await clock.sleep(Math.min(backoff(EARLY_PAUSE_MS, early), untilMs - now), signal);
    else early = 0;
  }
};
