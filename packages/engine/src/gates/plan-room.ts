// How many calls may pass a gate now, and when the next one may. Pure.
//   GR1. In flight: the limit less the calls under a lease. A bell rings when a slot becomes free, and the time of that is not known before. A
//        call that has ended while its service runs it is the exception: its slot is free when the lease ends, because the service may never report.
//   GR2. Rate: a bucket of `burst` tokens that fills with `limit` tokens in `per_seconds`. The state is one time: when the bucket is full again.
//        A call that starts up to LATE_MS after its token was there does not move the tokens after it: otherwise the time that a claim
//        takes would be lost with each call, and a rate without burst would never be reached.
//   GR3. Breaker: closed, everything passes. Open, nothing passes. After its time one call passes as a trial, while no other trial
//        runs; runs that began before are not trials.

import { burstOf, type Rate } from "@toolplane/protocol";
import type { GateRoom, GateState } from "./gate.ts";

/** A token of which less than this part is missing counts as there, because the times in the database are rounded to microseconds. */
const CLOSE_ENOUGH = 1e-3;

/** As long as a claim takes on a busy machine. */
export const LATE_MS = 100;

/** The time from one token to the next. */
export const tokenMs = ({ limit, per_seconds }: Rate): number => (per_seconds / limit) * 1_000;

/** The time in which an empty bucket fills. After a change of its rate a bucket is full after this time at the latest. */
export const fillMs = (rate: Rate): number => burstOf(rate, "delay") * tokenMs(rate);

/** How late a call may start without moving the next token. With a `burst` of its own, a rate lets at most one call more than that start at once. */
const lateMs = (rate: Rate): number => (rate.burst === undefined ? LATE_MS : Math.min(LATE_MS, tokenMs(rate)));

/** The time from which the next token counts; after a pause that is now. */
const startOf = (rate: Rate, fullAtMs: number | null, nowMs: number): number =>
  fullAtMs === null || fullAtMs < nowMs - lateMs(rate) ? nowMs : fullAtMs;

/** The tokens in the bucket, and the milliseconds until there is one more than none. */
export const planTokens = (
  rate: Rate,
  fullAtMs: number | null,
  nowMs: number,
): { readonly tokens: number; readonly nextMs: number } => {
  const eachMs = tokenMs(rate);
  const missingMs = startOf(rate, fullAtMs, nowMs) - nowMs;
  const tokens = Math.floor(burstOf(rate, "delay") - missingMs / eachMs + CLOSE_ENOUGH);
  return { tokens: Math.max(tokens, 0), nextMs: Math.max(missingMs - (burstOf(rate, "delay") - 1) * eachMs, 0) };
};

/** When the bucket is full again after `count` more tokens were taken. */
export const spend = (rate: Rate, fullAtMs: number | null, nowMs: number, count: number): number =>
  startOf(rate, fullAtMs, nowMs) + count * tokenMs(rate);

const OPEN_ROOM: GateRoom = { room: Number.POSITIVE_INFINITY, blockedBy: undefined, nextMs: undefined };

/** The time of its breaker is over: the next call is a trial. */
export const awaitsTrial = ({ limits, openUntilMs, nowMs }: GateState): boolean =>
  limits.breaker !== undefined && openUntilMs !== null && nowMs >= openUntilMs;

const breakerRoom = ({ limits, openUntilMs, nowMs, trials }: GateState): GateRoom => {
  if (limits.breaker === undefined || openUntilMs === null) return OPEN_ROOM;
  if (nowMs < openUntilMs) return { room: 0, blockedBy: "breaker", nextMs: openUntilMs - nowMs };
  return { room: trials === 0 ? 1 : 0, blockedBy: "breaker", nextMs: undefined };
};

const slotRoom = ({ limits: { concurrency }, running, lingersUntilMs, nowMs }: GateState): GateRoom => {
  if (concurrency === undefined) return OPEN_ROOM;
  // After a limit was lowered, more than one run has to end before a slot is free.
  const untilMs = lingersUntilMs[running - concurrency];
  const nextMs = untilMs === undefined ? undefined : Math.max(untilMs - nowMs, 0);
  return { room: Math.max(concurrency - running, 0), blockedBy: "concurrency", nextMs };
};

/** The wait that may be told. Of a slot none: a heartbeat moves the end of the lease that holds it, and its run may end long before. */
export const tellableMs = ({ room, blockedBy, nextMs }: GateRoom): number | undefined =>
  room > 0 || blockedBy === "concurrency" ? undefined : nextMs;

const rateRoom = ({ limits: { rate }, fullAtMs, nowMs }: GateState): GateRoom => {
  if (rate === undefined) return OPEN_ROOM;
  const { tokens, nextMs } = planTokens(rate, fullAtMs, nowMs);
  return { room: tokens, blockedBy: "rate", nextMs };
};

/** The narrowest of the three; of equals the one that takes longest to pass. */
export const planRoom = (state: GateState): GateRoom =>
  [breakerRoom(state), slotRoom(state), rateRoom(state)].reduce((least, one) => (one.room < least.room ? one : least));
