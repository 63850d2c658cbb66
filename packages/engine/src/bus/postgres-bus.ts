// The bus on PostgreSQL: commands are a work queue and events a log in the table that is also the outbox, so a message
// is visible the moment its transaction commits (I3) and nothing stands between the two.
// Waiting is for the doorbell; the slow look is for rings that were lost (I13).

import {
  type Bus,
  type ConsumeOptions,
  type Consumer,
  createBusCounters,
  type DeliveryHandler,
  type DrainOptions,
  planConsume,
} from "@toolplane/bus";
import { ToolplaneError } from "@toolplane/protocol";
import { createMessageWriter } from "../outbox/message-writer.ts";
import type { Clock } from "../ports/clock.ts";
import type { Faults } from "../ports/faults.ts";
import type { Ids } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import type { Database } from "../sql/database.ts";
import { createCommandSource } from "./command-source.ts";
import { type RunningConsumer, startConsumer } from "./consumer.ts";
import { createEventSource, dropDurable, ensureDurable } from "./event-source.ts";
import type { BusDoorbell } from "./postgres-doorbell.ts";
import { createSettlement } from "./settlement.ts";
import { createStreams } from "./streams.ts";

export interface PostgresBusOptions {
  readonly db: Database;
  readonly doorbell: BusDoorbell;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Log;
  readonly faults: Faults;
  /** How often a waiting consumer looks by itself. */
  readonly lookAgainMs?: number | undefined;
  /** False when no other process runs on this database: streams then stay in memory. */
  readonly shareStreams?: boolean | undefined;
}

/**
 * Rings get lost when a connection breaks, and a consumer in another process may have died with a message in its hands:
 * both are found this late at worst. Shorter would be polling.
 */
export const LOOK_AGAIN_MS = 5_000;

export const createPostgresBus = (options: PostgresBusOptions): Bus => {
  const { db, doorbell, ids, clock, log, faults, lookAgainMs = LOOK_AGAIN_MS, shareStreams = true } = options;
  const counters = createBusCounters();
  const settlement = createSettlement(db, faults);
  const streams = createStreams({ db, doorbell, clock, log, counters, origin: ids.uuid(), shared: shareStreams });
  const consumers = new Set<RunningConsumer>();
  let closing: Promise<void> | undefined;
  let closed = false;

  const refuseWhen = (refused: boolean): void => {
    if (refused) throw new ToolplaneError("storage_error", "the bus is closed");
  };

  const writer = createMessageWriter({
    db,
    doorbell,
    faults,
    written: (count) => {
      counters.published += count;
    },
  });

  const subscribe = async (consume: ConsumeOptions, handler: DeliveryHandler): Promise<RunningConsumer> => {
    const plan = planConsume(consume);
    const deps = { db, ids, faults };
    if (plan.category === "evt") await ensureDurable(db, plan);
    refuseWhen(closing !== undefined);
    const abundance = (): void => {
      doorbell.ring("messages");
    };
    const source =
      plan.category === "evt" ? createEventSource({ ...deps, abundance }, plan) : createCommandSource(deps, plan);
    return startConsumer({ source, settlement, doorbell, clock, log, counters, lookAgainMs }, plan, handler);
  };

  const closeAll = async (drain: DrainOptions): Promise<void> => {
    await Promise.all([...consumers].map((consumer) => consumer.stop(drain)));
    closed = true;
    await writer.idle();
    await settlement.idle();
    await streams.close();
  };

  return {
    async publish(messages) {
      refuseWhen(closed);
      await writer.publish(messages);
    },
    async consume(consume, handler): Promise<Consumer> {
      refuseWhen(closing !== undefined);
      const running = await subscribe(consume, handler);
      consumers.add(running);
      const { signal } = consume;
      const onAbort = (): void => void stop();
      const stop = async (drain?: DrainOptions): Promise<void> => {
        signal?.removeEventListener("abort", onAbort);
        await running.stop(drain);
        consumers.delete(running);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      if (signal?.aborted) await stop();
      return { durable: consume.durable, stop };
    },
    async dropDurable(durable) {
      refuseWhen(closed);
      await dropDurable(db, durable);
    },
    publishStream: (item) => {
      streams.publish(item);
    },
    async subscribeStream(pattern, handler) {
      refuseWhen(closing !== undefined);
      return streams.subscribe(pattern, handler);
    },
    stats: () => ({ ...counters }),
    close(drain = {}) {
      closing ??= closeAll(drain);
      return closing;
    },
  };
};
