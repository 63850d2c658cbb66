// The bus on NATS JetStream: commands and events are kept in streams, stream items are core messages. The server is only transport:
// it may restart, fail over or lose everything. Streams and durables are then made again, and the owner of the rows publishes
// lost messages again (I3, I13).

import { jetstreamManager } from "@nats-io/jetstream";
import { parsePattern, ToolplaneError } from "@toolplane/protocol";
import type { CarrierBus, ConsumeOptions, Consumer, DeliveryHandler, LostMessage } from "../bus.ts";
import { createBusCounters } from "../bus-counters.ts";
import { type Clock, systemClock } from "../clock.ts";
import { planConsume } from "../consume-plan.ts";
import type { Log } from "../log.ts";
import { createCommandSource } from "./command-source.ts";
import { type RunningConsumer, startConsumer } from "./consumer.ts";
import { createKeptDurables, type KeptDurables } from "./kept-durables.ts";
import type { NatsLink } from "./link.ts";
import { createLiveStreams } from "./live-streams.ts";
import { createNatsDurables, type NatsDurables } from "./nats-durables.ts";
import { createPayloadCommands } from "./payload-commands.ts";
import { createPublisher, type Publisher } from "./publisher.ts";
import { createStreamKeeper, STREAM_CATEGORIES, type StreamKeeper } from "./stream-keeper.ts";
import { trimCommands } from "./trim-commands.ts";
import { wireOf } from "./wire.ts";

export interface NatsBusOptions {
  readonly link: NatsLink;
  /** Stores a dead letter; the message is removed after this has resolved. */
  readonly bury: (lost: LostMessage) => Promise<void>;
  readonly log: Log;
  readonly clock?: Clock | undefined;
  /** Copies of each stream in a cluster; left as they are when not given. */
  readonly replicas?: number | undefined;
  /** The id of this plane: its durables are marked with it, and durables of other planes are left alone. */
  readonly plane?: string | undefined;
  /** How long a command is kept that no durable is for; two minutes unless given. */
  readonly keepCommandsMs?: number | undefined;
}

export interface NatsBus extends CarrierBus {
  /** Makes the durables of a plane that is gone ours; returns their names. First make sure that it is gone. */
  takeOver(): Promise<readonly string[]>;
  /** How many requests of services wait at a durable of commands; undefined when there is no such durable. */
  waitingAt(durable: string): Promise<number | undefined>;
}

interface Keepers {
  readonly streams: StreamKeeper;
  readonly durables: NatsDurables;
  readonly kept: KeptDurables;
  readonly publisher: Publisher;
}

export const createNatsBus = (options: NatsBusOptions): NatsBus => {
  const { link, bury, log, clock = systemClock, replicas, plane } = options;
  const wire = wireOf(link);
  const counters = createBusCounters();
  const live = createLiveStreams(wire, counters);
  const consumers = new Set<RunningConsumer>();
  let closing: Promise<void> | undefined;
  let closed = false;

  const refuseWhen = (refused: boolean): void => {
    if (refused) throw new ToolplaneError("storage_error", "the bus is closed");
  };

  const managing = jetstreamManager(wire.nc, { checkAPI: false });
  const keeping: Promise<Keepers> = managing.then((jsm) => {
    const streams = createStreamKeeper({ wire, jsm, replicas, log });
    const durables = createNatsDurables({ wire, jsm, streams, plane });
    const kept = createKeptDurables({ durables, clock, log });
    const { requests, nc } = wire;
    const maxPayload = (): number | undefined => nc.info?.max_payload;
    const payloadCommands = createPayloadCommands({ requests, flush: () => nc.flush() });
    const publisher = createPublisher({ requests, streams, payloadCommands, maxPayload, remade: kept.restore });
    return { streams, durables, kept, publisher };
  });

  const stopWatching = wire.onReconnect(() => {
    void keeping.then(({ streams, kept }) => {
      streams.forgetAll();
      kept.restore();
    });
  });

  const trimming = trimCommands({ wire, jsm: managing, clock, log, keepMs: options.keepCommandsMs });

  const subscribe = async (consume: ConsumeOptions, handler: DeliveryHandler): Promise<RunningConsumer> => {
    const plan = planConsume(consume);
    const { durables, streams } = await keeping;
    await durables.ensure(plan);
    refuseWhen(closing !== undefined);
    const ensure = (): Promise<void> => {
      streams.forgetAll();
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
      const { kept, durables } = await keeping;
      kept.forget(durable);
      await durables.drop(durable);
    },
    async ensureDurables(durables) {
      refuseWhen(closing !== undefined);
      const { streams, kept } = await keeping;
      await Promise.all(STREAM_CATEGORIES.map((category) => streams.ensure(category)));
      await kept.add(durables);
    },
    async commandDurables() {
      refuseWhen(closed);
      return (await keeping).durables.list("cmd");
    },
    async takeOver() {
      refuseWhen(closed);
      return (await keeping).durables.takeOver();
    },
    async waitingAt(durable) {
      return (await keeping).durables.waiting(durable);
    },
    async commandSubjects() {
      refuseWhen(closed);
      return (await keeping).streams.subjects("cmd");
    },
    async purgeCommands(pattern) {
      refuseWhen(closed);
      const { text } = parsePattern(pattern);
      await (await keeping).streams.purge("cmd", text);
    },
    commands: (durable) => {
      const gone = (): void => void keeping.then(({ kept }) => kept.restore());
      return createCommandSource({ wire, clock, log, counters, bury, gone }, durable);
    },
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
        await Promise.all([trimming.stop(), (await keeping).kept.stop()]);
        closed = true;
        live.close();
      })();
      return closing;
    },
  };
};
