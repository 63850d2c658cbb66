// The line of services that wait for work. Per (project, target) only the first in line reads the queue; when it found all it
// asked for, there may be more, and the next one reads too. So one ring costs one statement, however many wait.
//   Services that name different definitions may find different calls, so each list of definitions has a line of its own. So have
//   services that are given only calls which may run again (handover.ts, HO5).
//   A service that comes back to a queue that was just seen empty waits in line without reading: since then no bell has rung and
//   no call was offered here, so the queue is still empty. A lost ring delays it no more than any other waiting service (I13).
//   A service that rests in line may be handed a call that is dispatched here (handover.ts).

import { type Clock, createWaker } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import { createRecent } from "../recent/recent.ts";
import { type TargetKey, targetKey } from "../sessions/session-targets.ts";
import { type ClaimRequest, type LineRequest, MAX_CLAIM } from "./claims.ts";
import type { Handover, Standing } from "./handover.ts";
import type { LeasedCall } from "./take-calls.ts";

export interface ClaimLineDeps {
  readonly claim: (request: LineRequest) => Promise<readonly LeasedCall[]>;
  readonly doorbell: Doorbell;
  readonly clock: Clock;
  readonly handover: Pick<Handover, "sit" | "leave">;
  /** Calls that were handed over to a service which had gone. */
  readonly giveBack: (leaseIds: readonly string[]) => void;
  /** Milliseconds until a call that a limit holds may be claimed, when time alone decides it. */
  readonly wakeIn?: ((key: TargetKey) => number | undefined) | undefined;
}

export interface ClaimLine {
  /** What is queued now, or what comes within `waitMs`; empty when nothing came or the signal aborted. */
  wait(request: ClaimRequest, waitMs: number, signal?: AbortSignal): Promise<readonly LeasedCall[]>;
  /** A call of this process was queued for this target. */
  offer(key: TargetKey): void;
  waiting(): number;
  /** Resolves when services that have gone gave back what they had not fetched. */
  left(): Promise<void>;
  close(): void;
}

// A ring may be lost (I13), and a delayed call becomes due without a ring: the first in line reads this often by itself.
const LOOK_AGAIN_MS = 1_000;

/** More targets than one process serves. */
const MAX_REMEMBERED = 1_024;

/** More than one rollout has. */
const MAX_LISTS = 32;

interface Place {
  readonly wake: () => void;
}

/** A look that found less than it asked for: calls that are queued now came later. */
interface EmptyLook {
  readonly at: number;
  readonly rings: number;
}

const lineOf = (request: ClaimRequest): string =>
  `${targetKey(request)} ${request.unwatched === true ? "safe" : ""} ${request.definitions?.join(",") ?? ""}`;

export const createClaimLine = (deps: ClaimLineDeps): ClaimLine => {
  const { claim, doorbell, clock, handover, wakeIn } = deps;
  const lines = new Map<string, Place[]>();
  /** The lines of a target. */
  const ofTarget = new Map<string, Set<string>>();
  /** Per target and line. */
  const emptied = createRecent<Map<string, EmptyLook>>(MAX_REMEMBERED);
  let rings = 0;
  let closed = false;
  const wakeFirst = (key: string): void => lines.get(key)?.[0]?.wake();
  const wakeAll = (): void => {
    rings++;
    for (const key of lines.keys()) wakeFirst(key);
  };
  const stopListening = [doorbell.listen("queued", wakeAll), doorbell.listen("sessions", wakeAll)];

  const join = (request: ClaimRequest, place: Place): Place[] => {
    const [key, target] = [lineOf(request), targetKey(request)];
    const line = lines.get(key) ?? [];
    lines.set(key, line);
    line.push(place);
    const others = ofTarget.get(target) ?? new Set();
    ofTarget.set(target, others.add(key));
    return line;
  };

  const leave = (request: ClaimRequest, place: Place): void => {
    const key = lineOf(request);
    const line = lines.get(key);
    if (line === undefined) return;
    const index = line.indexOf(place);
    if (index >= 0) line.splice(index, 1);
    if (line.length > 0) {
      if (index === 0) line[0]?.wake();
      return;
    }
    lines.delete(key);
    const others = ofTarget.get(targetKey(request));
    others?.delete(key);
    if (others?.size === 0) ofTarget.delete(targetKey(request));
  };

  /** How long the first in line may still rest before it reads: nothing was in the queue a moment ago. */
  const restLeft = (request: ClaimRequest): number => {
    const look = emptied.get(targetKey(request))?.get(lineOf(request));
    if (look === undefined || look.rings !== rings) return 0;
    const age = clock.now() - look.at;
    // When the clock was set back, the age of the look is unknown.
    return age < 0 ? 0 : Math.max(Math.min(LOOK_AGAIN_MS - age, wakeIn?.(request) ?? LOOK_AGAIN_MS), 0);
  };

  const look = async (request: ClaimRequest): Promise<readonly LeasedCall[]> => {
    const began = { at: clock.now(), rings };
    const [key, target] = [lineOf(request), targetKey(request)];
    const empty = emptied.get(target) ?? new Map<string, EmptyLook>();
    emptied.set(target, empty);
    // Lists of definitions change with every rollout, and old ones are of no use.
    if (empty.size >= MAX_LISTS) empty.clear();
    empty.set(key, began);
    let found: readonly LeasedCall[] | undefined;
    try {
      found = await claim({ ...request, inLine: true });
      return found;
    } finally {
      // An offer during the look has already dropped it: the look may not have seen that call.
      if (found === undefined || found.length >= request.max) empty.delete(key);
      else if (empty.get(key) === began) empty.set(key, { at: clock.now(), rings: began.rings });
    }
  };

  const standing = new WeakSet<Standing>();
  const leaving = new Set<Promise<void>>();
  /** The end of its signal is the end of the service. */
  const leaveAtEnd = (service: Standing, signal: AbortSignal): void => {
    if (standing.has(service)) return;
    standing.add(service);
    const end = async (): Promise<void> => {
      const left = await handover.leave(service);
      if (left.length > 0) deps.giveBack(left.map(({ lease }) => lease.id));
    };
    const onEnd = (): void => {
      const left: Promise<void> = end().finally(() => leaving.delete(left));
      leaving.add(left);
    };
    signal.addEventListener("abort", onEnd, { once: true });
  };

  const standInLine = async (
    request: ClaimRequest,
    waitMs: number,
    signal: AbortSignal | undefined,
  ): Promise<readonly LeasedCall[]> => {
    let rung = createWaker();
    const over = createWaker();
    const giveUp = (): void => {
      over.wake();
      rung.wake();
    };
    if (signal?.aborted === true) giveUp();
    signal?.addEventListener("abort", giveUp, { once: true });
    void clock.sleep(waitMs, over.signal).then(giveUp);
    const place: Place = { wake: () => rung.wake() };
    const line = join(request, place);
    // A service that has ended takes no place: it would stay for ever.
    const service = signal?.aborted === false ? request.standing : undefined;
    if (service !== undefined && signal !== undefined) leaveAtEnd(service, signal);
    const seat = handover.sit({ ...request, wake: place.wake }, service);
    try {
      while (!over.signal.aborted && !closed) {
        const max = Math.min(seat.free(), MAX_CLAIM);
        if (line[0] === place && max > 0 && restLeft(request) === 0) {
          rung = createWaker();
          const found = await seat.look(() => look({ ...request, max }));
          if (found.length > 0) return found;
        }
        const restMs = line[0] === place ? restLeft(request) : waitMs;
        const handed = await seat.rest(clock.sleep(restMs, rung.signal));
        if (handed.length > 0) return handed;
        rung = createWaker();
      }
      return [];
    } finally {
      seat.leave();
      over.wake();
      signal?.removeEventListener("abort", giveUp);
      leave(request, place);
    }
  };

  return {
    // Joins the line first and reads then: a ring in between is heard, and an empty queue is read once, not twice.
    wait(request, waitMs, signal) {
      const alone = !lines.has(lineOf(request));
      return waitMs <= 0 && alone ? claim(request) : standInLine(request, waitMs, signal);
    },
    offer(key) {
      emptied.delete(targetKey(key));
      for (const line of ofTarget.get(targetKey(key)) ?? []) wakeFirst(line);
    },
    left: async () => void (await Promise.all(leaving)),
    waiting: () => [...lines.values()].reduce((sum, line) => sum + line.length, 0),
    close: () => {
      closed = true;
      for (const stop of stopListening) stop();
      for (const line of lines.values()) for (const place of line) place.wake();
    },
  };
};
