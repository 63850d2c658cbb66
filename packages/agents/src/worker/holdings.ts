// The work that this worker holds: one heartbeat statement for all of it, and an aborted signal for work that is gone (stopped,
// or taken over by another worker).
//   HD1. A ring for an agent whose work is held sends a heartbeat for that work at once, so a stop interrupts a model call in
//       milliseconds and not at the next heartbeat. Rings during a heartbeat cause one more.
//   HD2. A failed heartbeat changes nothing: the claim may still be ours, and the engine fences every commit.
//   HD3. Heartbeats cover all work that is held, whatever its age, so a clock that is set back cannot let claims lapse.

import type { Clock, Log, Turns, Work } from "@toolplane/engine";
import { isToolplaneError } from "@toolplane/protocol";

/** Why a signal was aborted. */
export type Interruption = "claim_lost" | "draining";

export interface Holding {
  readonly work: Work;
  readonly signal: AbortSignal;
  /** What aborted it, if anything did. */
  interruption(): Interruption | undefined;
}

export interface Holdings {
  take(work: Work): Holding;
  leave(holding: Holding): void;
  /** Look at this work's claim now. */
  check(work: Work): void;
  /** Look at all claims now. */
  checkAll(): void;
  interruptAll(why: Interruption): void;
  beats(): number;
  /** Ends the beating. */
  close(): Promise<void>;
}

export interface HoldingsOptions {
  readonly turns: Pick<Turns, "heartbeat">;
  readonly clock: Clock;
  readonly log: Log;
  readonly everyMs: number;
}

interface Entry extends Holding {
  readonly controller: AbortController;
  /** It was already held at the last heartbeat. */
  old: boolean;
}

export const createHoldings = ({ turns, clock, log, everyMs }: HoldingsOptions): Holdings => {
  const entries = new Map<string, Entry>();
  const stopping = new AbortController();
  let rung = new Set<string>();
  let checking: Promise<void> | undefined;
  let beats = 0;

  const beat = async (work: readonly Work[]): Promise<void> => {
    if (work.length === 0) return;
    beats++;
    try {
      for (const { claimId } of await turns.heartbeat(work)) entries.get(claimId)?.controller.abort("claim_lost");
    } catch (error) {
      log.warn("a heartbeat of turns failed; it is tried again", {
        code: isToolplaneError(error) ? error.code : "internal_error",
        work: work.length,
      });
    }
  };

  const checkRung = async (): Promise<void> => {
    // At the end of this tick, so that rings that arrive together cause one heartbeat.
    await Promise.resolve();
    while (rung.size > 0) {
      const asked = rung;
      rung = new Set();
      await beat([...asked].map((claimId) => entries.get(claimId)?.work).filter((work) => work !== undefined));
    }
    checking = undefined;
  };

  /** Most work is over before its first heartbeat, which comes one to two pauses after it was taken. */
  const overdue = (): readonly Work[] => {
    const due: Work[] = [];
    for (const entry of entries.values()) {
      if (entry.old) due.push(entry.work);
      entry.old = true;
    }
    return due;
  };

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await clock.sleep(everyMs, stopping.signal);
      if (!stopping.signal.aborted) await beat(overdue());
    }
  };
  const beating = loop();

  return {
    take(work) {
      const controller = new AbortController();
      const { signal } = controller;
      const interruption = (): Interruption | undefined =>
        signal.aborted ? (signal.reason === "draining" ? "draining" : "claim_lost") : undefined;
      const entry: Entry = { work, signal, controller, interruption, old: false };
      entries.set(work.claimId, entry);
      return entry;
    },
    leave(holding) {
      entries.delete(holding.work.claimId);
    },
    check(work) {
      if (!entries.has(work.claimId)) return;
      rung.add(work.claimId);
      checking ??= checkRung();
    },
    checkAll() {
      if (entries.size === 0) return;
      for (const claimId of entries.keys()) rung.add(claimId);
      checking ??= checkRung();
    },
    interruptAll(why) {
      for (const { controller } of entries.values()) controller.abort(why);
    },
    beats: () => beats,
    async close() {
      stopping.abort();
      await beating;
      await checking;
    },
  };
};
