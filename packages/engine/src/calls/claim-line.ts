// The line of those who wait for work. Per (project, target) only the first in line looks; when it found all it asked
// for there may be more, and the next one looks too. One ring therefore costs one statement, however many wait.

import { type Clock, WAIT_OVER } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { ClaimRequest, LeasedCall, LineRequest } from "./leases.ts";

export interface ClaimLineDeps {
  readonly claim: (request: LineRequest) => Promise<readonly LeasedCall[]>;
  readonly doorbell: Doorbell;
  readonly clock: Clock;
}

export interface ClaimLine {
  /** What there is now, or else what comes within `waitMs`; empty when nothing came or the signal aborted. */
  wait(request: ClaimRequest, waitMs: number, signal?: AbortSignal): Promise<readonly LeasedCall[]>;
  waiting(): number;
  close(): void;
}

// A ring may be lost (I13) and a delayed call becomes due without one: the first in line looks this often by itself.
const LOOK_AGAIN_MS = 1_000;

interface Place {
  readonly wake: () => void;
}

export const createClaimLine = ({ claim, doorbell, clock }: ClaimLineDeps): ClaimLine => {
  const lines = new Map<string, Place[]>();
  let closed = false;
  const wakeFirst = (key: string): void => lines.get(key)?.[0]?.wake();
  const wakeAll = (): void => {
    for (const key of lines.keys()) wakeFirst(key);
  };
  const stopListening = [doorbell.listen("queued", wakeAll), doorbell.listen("sessions", wakeAll)];

  const leave = (key: string, place: Place): void => {
    const line = lines.get(key);
    if (line === undefined) return;
    const index = line.indexOf(place);
    if (index >= 0) line.splice(index, 1);
    if (line.length === 0) lines.delete(key);
    else if (index === 0) line[0]?.wake();
  };

  const standInLine = async (
    request: ClaimRequest,
    waitMs: number,
    signal: AbortSignal | undefined,
  ): Promise<readonly LeasedCall[]> => {
    const key = `${request.projectId}/${request.target}`;
    const giveUp = new AbortController();
    const onAbort = (): void => giveUp.abort(WAIT_OVER);
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    void clock.sleep(waitMs, giveUp.signal).then(onAbort);
    let rung = new AbortController();
    const place: Place = { wake: () => rung.abort(WAIT_OVER) };
    const line = lines.get(key) ?? [];
    lines.set(key, line);
    line.push(place);
    try {
      while (!giveUp.signal.aborted && !closed) {
        if (line[0] === place) {
          rung = new AbortController();
          const found = await claim({ ...request, inLine: true });
          if (found.length > 0) return found;
        }
        await clock.sleep(line[0] === place ? LOOK_AGAIN_MS : waitMs, AbortSignal.any([rung.signal, giveUp.signal]));
        if (line[0] !== place) rung = new AbortController();
      }
      return [];
    } finally {
      giveUp.abort(WAIT_OVER);
      signal?.removeEventListener("abort", onAbort);
      leave(key, place);
    }
  };

  return {
    // In line first, then the look: a ring in between is heard, and an empty queue is looked at once, not twice.
    wait(request, waitMs, signal) {
      const alone = !lines.has(`${request.projectId}/${request.target}`);
      return waitMs <= 0 && alone ? claim(request) : standInLine(request, waitMs, signal);
    },
    waiting: () => [...lines.values()].reduce((sum, line) => sum + line.length, 0),
    close: () => {
      closed = true;
      for (const stop of stopListening) stop();
      for (const line of lines.values()) for (const place of line) place.wake();
    },
  };
};
