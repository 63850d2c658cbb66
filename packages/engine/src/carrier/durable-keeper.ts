// The keeper of durables. Services on a carrier fetch from `tool_{target}__{project}` and may not make it themselves: it is made
// when a service says that it serves the pair, or when a tool of a service that never leases is registered.
//   DK1. A ring of the registry makes what is new; the slow look, or news that the carrier is back, makes all of them.
//   DK2. Any number of processes may do so at once: an existing durable stays as it is.
//   DK3. While the carrier is away it is asked again with growing pauses. Nothing waits for a look: a command that comes before its
//        durable is kept.
//   DK4. A pair that no service has named for a day, and for which no call waits, loses its durable. Existing durables are listed
//        before the pairs are read, so one that is made meanwhile is not taken for a leftover. Where our user may make durables
//        and not list or drop them, leftovers stay.
//   DK5. Earlier versions kept one durable per target, for all projects. NATS allows no second one beside it, so it is dropped
//       first.

import type { CarrierBus, CommandDurable } from "@toolplane/bus";
import { type Backoff, backoff, isToolplaneError } from "@toolplane/protocol";
import { tryToolCommandSubscription } from "@toolplane/protocol/agents";
import { createAlarm } from "../bus/alarm.ts";
import type { Ground } from "../ports/ground.ts";
import type { TargetKey } from "../sessions/session-targets.ts";
import type { Queryer } from "../sql/database.ts";
import { createAttachments } from "./attachments.ts";
import { DETACH, SERVED_TARGETS, type ServedRow } from "./durables.sql.ts";
import { PMO, planDurables, planLeftovers } from "./plan-durables.ts";

export interface DurableKeeperOptions extends Pick<Ground, "doorbell" | "clock" | "log" | "faults"> {
  readonly db: Queryer;
  readonly bus: Pick<CarrierBus, "ensureDurables" | "commandDurables" | "dropDurable" | "purgeCommands">;
  /** Called with all durables after each look at all of them. */
  readonly kept?: ((durables: readonly CommandDurable[]) => void) | undefined;
  readonly leftoversEveryMs?: number | undefined;
  readonly detachAfterSeconds?: number | undefined;
}

export interface DurableKeeper {
  /** Whether services fetch the commands of this durable from the carrier; undefined before the first look. */
  isFetched(durable: string): boolean | undefined;
  /** How many there are. */
  count(): number;
  /** A service serves this pair on the carrier; resolves to its durable, which exists then. `fetches`: it takes commands from there. */
  attach(served: TargetKey, fetches?: boolean): Promise<string>;
  /** Some may be missing: look at all of them soon. */
  refresh(): void;
  stop(): Promise<void>;
}

/** After a server lost its disk, its durables are back this late at worst; a look costs one question per pair. */
const LOOK_AGAIN_MS = 15_000;
/** A leftover costs the server some memory, so there is no hurry. */
const LEFTOVERS_EVERY_MS = 60_000;
/** Services repeat every few minutes that they are there; a service that was stopped over night finds its durable. */
const DETACH_AFTER_SECONDS = 24 * 60 * 60;
const RETRY_MS: Backoff = { first: 200, longest: 5_000 };

const fetchedOf = (rows: readonly ServedRow[]): ReadonlyMap<string, boolean> =>
  new Map([
    [PMO.durable, true],
    ...rows.flatMap(({ project_id, target, fetches }): [string, boolean][] => {
      const subscription = tryToolCommandSubscription(project_id, target);
      return subscription === undefined ? [] : [[subscription.durable, fetches]];
    }),
  ]);

export const keepDurables = (options: DurableKeeperOptions): DurableKeeper => {
  const { db, bus, doorbell, clock, log, faults, kept } = options;
  const { leftoversEveryMs = LEFTOVERS_EVERY_MS } = options;
  const { detachAfterSeconds = DETACH_AFTER_SECONDS } = options;
  const alarm = createAlarm(clock);
  const stopping = new AbortController();
  /** Whether services fetch from it, by durable. */
  let known: ReadonlyMap<string, boolean> | undefined;
  /** Attached since the look under way began: its rows may be older. */
  const attached = new Map<string, boolean>();
  let all = true;
  let rung = false;
  let leftoversAt = Number.NEGATIVE_INFINITY;
  let failures = 0;

  const withAttached = (durables: ReadonlyMap<string, boolean>): ReadonlyMap<string, boolean> => {
    const merged = new Map(durables);
    for (const [durable, fetches] of attached) merged.set(durable, fetches || merged.get(durable) === true);
    return merged;
  };

  const isRefused = (error: unknown): boolean => {
    if (!isToolplaneError(error) || error.code !== "auth_failed") return false;
    leftoversAt = Number.POSITIVE_INFINITY;
    log.warn("durables that no service uses any more stay on the bus", { reason: error.message });
    return true;
  };

  const listPresent = async (): Promise<readonly CommandDurable[]> => {
    try {
      return await bus.commandDurables();
    } catch (error) {
      if (isRefused(error)) return [];
      throw error;
    }
  };

  const dropLeftovers = async (present: readonly CommandDurable[], wanted: ReadonlyMap<string, string>) => {
    try {
      for (const { durable, pattern, isOfOnePair } of planLeftovers(present, wanted)) {
        await bus.dropDurable(durable);
        // The next durable of this pair would deliver them once more.
        if (isOfOnePair) await bus.purgeCommands(pattern);
      }
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
    if (isTime) await db.query(DETACH, [detachAfterSeconds]);
    attached.clear();
    const rows = await db.query<ServedRow>(SERVED_TARGETS, [detachAfterSeconds]);
    const durables = planDurables(rows.map(({ project_id: projectId, target }) => ({ projectId, target })));
    const wanted = new Map(durables.map(({ durable, pattern }) => [durable, pattern]));
    await dropLeftovers(present, wanted);
    const missing = isFull ? durables : durables.filter(({ durable }) => known?.has(durable) !== true);
    if (missing.length > 0) await bus.ensureDurables(missing);
    await faults.at("keep:after-ensure");
    known = withAttached(fetchedOf(rows));
    if (isFull) kept?.(durables);
  };

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      alarm.rest();
      rung = false;
      try {
        await look();
        failures = 0;
        await alarm.wait(LOOK_AGAIN_MS);
        // It was not woken: this is the slow look.
        if (!rung) all = true;
      } catch (error) {
        all = true;
        if (failures === 0)
          log.warn("the durables of commands could not be checked; trying again", {
            code: isToolplaneError(error) ? error.code : "internal_error",
            ...(isToolplaneError(error) ? { reason: error.message } : {}),
          });
        await clock.sleep(backoff(RETRY_MS, ++failures), stopping.signal);
      }
    }
  };

  const wake = (): void => {
    rung = true;
    alarm.wake();
  };
  const stopListening = doorbell.listen("registry", wake);
  const ended = loop();

  const attachments = createAttachments({
    db,
    bus,
    doorbell,
    detachAfterSeconds,
    attached(durable, fetches) {
      attached.set(durable, fetches || attached.get(durable) === true);
      if (known !== undefined) known = withAttached(known);
    },
  });

  return {
    isFetched: (durable) => (known === undefined ? undefined : known.get(durable) === true),
    count: () => known?.size ?? 0,
    attach: (served, fetches = true) => attachments.attach(served, fetches),
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
