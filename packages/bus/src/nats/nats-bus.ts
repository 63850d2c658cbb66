// The bus on NATS JetStream: commands are a work queue, events a log, stream items core messages. The server is transport
// only: it may restart, fail over or lose everything it holds; streams and durables then come back by themselves, and what
// was lost is published again by whoever keeps the truth (I3, I13).

import { jetstreamManager } from "@nats-io/jetstream";
import { ToolplaneError } from "@toolplane/protocol";
import type { CarrierBus, CommandDurable, ConsumeOptions, Consumer, DeliveryHandler, LostMessage } from "../bus.ts";
import { type Clock, systemClock } from "../clock.ts";
import { planConsume } from "../consume-plan.ts";
import type { Log } from "../log.ts";
import { createCommandSource } from "./command-source.ts";
import { type RunningConsumer, startConsumer } from "./consumer.ts";
import { createBusCounters } from "./counters.ts";
import { createDurableKeeper, type DurableKeeper, type DurablePlan } from "./durable-keeper.ts";
import { failureCode } from "./handling.ts";
import type { NatsLink } from "./link.ts";
import { createLiveStreams } from "./live-streams.ts";
import { createPublisher, type Publisher } from "./publisher.ts";
import { createStreamKeeper, type StreamKeeper } from "./stream-keeper.ts";
import { wireOf } from "./wire.ts";

export interface NatsBusOptions {
  readonly link: NatsLink;
  /** Keeps a dead letter; the message is gone when this resolved. */
  readonly bury: (lost: LostMessage) => Promise<void>;
  readonly log: Log;
  readonly clock?: Clock | undefined;
  /** Copies of each stream in a cluster; left as they are when not given. */
  readonly replicas?: number | undefined;
}

/** Asked at once when many targets are registered. */
const ENSURE_AT_ONCE = 16;

interface Keepers {
  readonly streams: StreamKeeper;
  readonly durables: DurableKeeper;
  readonly publisher: Publisher;
}

const planDurable = ({ durable, pattern }: CommandDurable): DurablePlan => {
  const { ackWaitMs, ...plan } = planConsume({ durable, pattern, category: "cmd" });
  return { ...plan, ackWaitMs, keepAckWait: true };
};

const inTurns = async <T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> => {
  for (let at = 0; at < items.length; at += ENSURE_AT_ONCE)
    await Promise.all(items.slice(at, at + ENSURE_AT_ONCE).map(run));
};

export const createNatsBus = (options: NatsBusOptions): CarrierBus => {
  const { link, bury, log, clock = systemClock, replicas } = options;
  const wire = wireOf(link);
  const counters = createBusCounters();
  const live = createLiveStreams(wire, counters);
  const consumers = new Set<RunningConsumer>();
  /** Durables others fetch from: nobody here would notice that they are gone. */
  const kept = new Map<string, DurablePlan>();
  let closing: Promise<void> | undefined;
  let closed = false;

  const refuseWhen = (refused: boolean): void => {
    if (refused) throw new ToolplaneError("storage_error", "the bus is closed");
  };

  const keeping: Promise<Keepers> = jetstreamManager(wire.nc, { checkAPI: false }).then((jsm) => {
    const streams = createStreamKeeper(wire, jsm, replicas);
    const durables = createDurableKeeper(wire, jsm, streams);
    const { requests, nc } = wire;
    const maxPayload = (): number | undefined => nc.info?.max_payload;
    return { streams, durables, publisher: createPublisher({ requests, streams, maxPayload, remade: restore }) };
  });

  const ensureKept = async (plans: readonly DurablePlan[]): Promise<void> => {
    const { durables } = await keeping;
    await inTurns(plans, (plan) => durables.ensure(plan));
  };

  let restoring: Promise<void> | undefined;
  /** After a loss of connection or streams: makes the kept durables again. What fails is tried at the next occasion. */
  const restore = (): void => {
    if (kept.size === 0 || closing !== undefined) return;
    restoring ??= ensureKept([...kept.values()])
      .catch((error: unknown) => log.warn("durables could not be made again", { code: failureCode(error) }))
      .finally(() => {
        restoring = undefined;
      });
  };
  const stopWatching = wire.onReconnect(() => {
    void keeping.then(({ streams }) => {
      streams.forget();
      restore();
    });
  });

  const subscribe = async (consume: ConsumeOptions, handler: DeliveryHandler): Promise<RunningConsumer> => {
    const plan = planConsume(consume);
    const { durables, streams } = await keeping;
    await durables.ensure(plan);
    refuseWhen(closing !== undefined);
    const ensure = (): Promise<void> => {
      streams.forget();
      return durables.ensure(plan);
    };
    return startConsumer({ wire, clock, log, counters, bury, ensure }, plan, handler);
  };

  return {
    async publish(messages) {
      refuseWhen(closed);
      counters.published += await (await keeping).publisher.publish(messages);
    },
    async consume(consume, handler): Promise<Consumer> {
      refuseWhen(closing !== undefined);
      const running = await subscribe(consume, handler);
      consumers.add(running);
      const stop: Consumer["stop"] = async (drain) => {
        await running.stop(drain);
        consumers.delete(running);
      };
      const { signal } = consume;
      if (signal?.aborted) await stop();
      else signal?.addEventListener("abort", () => void stop(), { once: true });
      return { durable: consume.durable, stop };
    },
    async dropDurable(durable) {
      refuseWhen(closed);
      kept.delete(durable);
      await (await keeping).durables.drop(durable);
    },
    async ensureDurables(durables) {
      refuseWhen(closing !== undefined);
      const plans = durables.map(planDurable);
      for (const plan of plans) kept.set(plan.durable, plan);
      await ensureKept(plans);
    },
    commands: (durable) => createCommandSource({ wire, clock, log, counters, bury, gone: restore }, durable),
    publishStream: (item) => live.publish(item),
    subscribeStream: async (pattern, handler) => {
      refuseWhen(closing !== undefined);
      return live.subscribe(pattern, handler);
    },
    stats: () => ({ ...counters }),
    close(drain) {
      closing ??= (async () => {
        stopWatching();
        await Promise.all([...consumers].map((consumer) => consumer.stop(drain)));
        await restoring;
        closed = true;
        live.close();
      })();
      return closing;
    },
  };
};
