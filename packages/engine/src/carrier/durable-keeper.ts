// The keeper of durables: services on a carrier fetch from `tool_{target}`, and may not make it themselves. It exists as
// soon as a tool of that target is registered, and again when the carrier has lost it.
//   DK1. A ring of the registry makes what is new; a slow look, or word that the carrier is back, makes all of them.
//   DK2. Any number of processes may do so at once: a durable that is there stays as it is.
//   DK3. A carrier that is away is asked again with growing pauses; nothing waits for it.
//   DK4. Of a target that has no tool any more, in no project, the durable is dropped when its last call has ended. Those
//        that are there are listed before the registry is read: one that is made meanwhile is not taken for a leftover,
//        and one that is registered again after the reading rings, and is made by the next look. Not at the start: who
//        came to a carrier of others, with another registry, has gone again by then. A carrier that lets us make durables
//        and not list or drop them keeps its leftovers.

import type { CarrierBus, CommandDurable } from "@toolplane/bus";
import { isToolplaneError } from "@toolplane/protocol";
import { createAlarm } from "../bus/alarm.ts";
import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Faults } from "../ports/faults.ts";
import type { Log } from "../ports/log.ts";
import type { Queryer } from "../sql/database.ts";
import { REGISTERED_TARGETS, TARGETS_IN_USE, type TargetRow } from "./durables.sql.ts";
import { durableFor, planDurables, planLeftovers } from "./plan-durables.ts";

export interface DurableKeeperOptions {
  readonly db: Queryer;
  readonly bus: Pick<CarrierBus, "ensureDurables" | "commandDurables" | "dropDurable">;
  readonly doorbell: Doorbell;
  readonly clock: Clock;
  readonly log: Log;
  readonly faults: Faults;
  /** Told of all durables after each look at all of them. */
  readonly kept?: ((durables: readonly string[]) => void) | undefined;
  readonly lookAgainMs?: number | undefined;
  readonly leftoversEveryMs?: number | undefined;
}

export interface DurableKeeper {
  /** How many there are. */
  count(): number;
  /** Some may be missing: look at all of them soon. */
  refresh(): void;
  stop(): Promise<void>;
}

/** A server that lost its disk has its durables again this late at worst; a look is one question per target. */
const LOOK_AGAIN_MS = 15_000;
/** One that is left over costs the server some memory: there is no hurry. */
const LEFTOVERS_EVERY_MS = 60_000;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;

export const keepDurables = (options: DurableKeeperOptions): DurableKeeper => {
  const { db, bus, doorbell, clock, log, faults, kept } = options;
  const { lookAgainMs = LOOK_AGAIN_MS, leftoversEveryMs = LEFTOVERS_EVERY_MS } = options;
  const alarm = createAlarm(clock);
  const stopping = new AbortController();
  let known: ReadonlySet<string> = new Set();
  let all = true;
  let rung = false;
  let leftoversAt = clock.now();

  const isRefused = (error: unknown): boolean => {
    if (!isToolplaneError(error) || error.code !== "auth_failed") return false;
    leftoversAt = Number.POSITIVE_INFINITY;
    log.warn("durables of targets that have no tool any more stay on the bus", { reason: error.message });
    return true;
  };

  const listPresent = async (): Promise<readonly string[]> => {
    try {
      return await bus.commandDurables();
    } catch (error) {
      if (isRefused(error)) return [];
      throw error;
    }
  };

  const dropLeftovers = async (present: readonly string[]): Promise<void> => {
    const left = planLeftovers(present, known);
    if (left.length === 0) return;
    const rows = await db.query<TargetRow>(TARGETS_IN_USE, [left]);
    const inUse = new Set(rows.map(({ target }) => target));
    const unused = left.filter((target) => !inUse.has(target)).map((target) => durableFor("tool", target) ?? "");
    try {
      for (const durable of unused) await bus.dropDurable(durable);
    } catch (error) {
      if (!isRefused(error)) throw error;
    }
  };

  const look = async (): Promise<void> => {
    const isFull = all;
    all = false;
    const isTime = isFull && clock.now() - leftoversAt >= leftoversEveryMs;
    if (isTime) leftoversAt = clock.now();
    const present = isTime ? await listPresent() : [];
    const rows = await db.query<TargetRow>(REGISTERED_TARGETS);
    const durables = planDurables(rows.map(({ target }) => target));
    const missing: readonly CommandDurable[] = isFull
      ? durables
      : durables.filter(({ durable }) => !known.has(durable));
    if (missing.length > 0) await bus.ensureDurables(missing);
    await faults.at("keep:after-ensure");
    known = new Set(durables.map(({ durable }) => durable));
    if (isFull) kept?.([...known]);
    await dropLeftovers(present);
  };

  const loop = async (): Promise<void> => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      alarm.rest();
      rung = false;
      try {
        await look();
        failures = 0;
        await alarm.wait(lookAgainMs);
        // Nobody woke it: this is the slow look.
        if (!rung) all = true;
      } catch (error) {
        all = true;
        if (failures === 0)
          log.warn("the durables of commands cannot be looked after; it is tried again", {
            code: isToolplaneError(error) ? error.code : "internal_error",
          });
        failures++;
        await clock.sleep(Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures, 8)), stopping.signal);
      }
    }
  };

  const wake = (): void => {
    rung = true;
    alarm.wake();
  };
  const stopListening = doorbell.listen("registry", wake);
  const ended = loop();

  return {
    count: () => known.size,
    refresh() {
      all = true;
      wake();
    },
    async stop() {
      stopping.abort();
      wake();
      stopListening();
      await ended;
    },
  };
};
