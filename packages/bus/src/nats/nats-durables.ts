// Durables on the server. The server redelivers without end and counts deliveries. Giving up after so many is done here, because
// only we can store the dead letter (B9).
//   NB1. A durable's description says which plane made it. A durable of another plane is neither used, changed nor dropped,
//        unless it was taken over; one without a mark was made by an earlier version and may be used by any plane.

import {
  AckPolicy,
  type ConsumerConfig,
  type ConsumerInfo,
  DeliverPolicy,
  type JetStreamManager,
} from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { parsePattern, type SubjectPattern, ToolplaneError } from "@toolplane/protocol";
import { type StreamCategory, streamPlan } from "@toolplane/protocol/agents";
import type { CommandDurable, DeliverFrom } from "../bus.ts";
import { doOverlap, narrowPattern } from "./narrow-pattern.ts";
import { STREAM_CATEGORIES, type StreamKeeper } from "./stream-keeper.ts";
import { alreadyTaken, CONSUMER_NOT_FOUND, hasApiCode, understandNats } from "./understand-nats.ts";
import { type Wire, whileConnected } from "./wire.ts";

export interface DurablePlan {
  readonly durable: string;
  readonly pattern: SubjectPattern;
  readonly category: StreamCategory;
  readonly deliver: DeliverFrom;
  readonly ackWaitMs: number;
  /** Whether an existing durable gets this ack wait. */
  readonly keepAckWait?: boolean;
}

export interface NatsDurables {
  ensure(plan: DurablePlan): Promise<void>;
  drop(durable: string): Promise<void>;
  /** All existing durables that do not belong to another plane. */
  list(category: StreamCategory): Promise<readonly CommandDurable[]>;
  /** How many requests wait at a durable of commands; undefined when there is no such durable. */
  waiting(durable: string): Promise<number | undefined>;
  /** Makes the durables of a plane that is gone ours; returns their names. */
  takeOver(): Promise<readonly string[]>;
}

const MARK = "toolplane ";

const markOf = (plane: string | undefined): string | undefined => (plane === undefined ? undefined : MARK + plane);

const configOf = (plan: DurablePlan, deliver: DeliverFrom, mark: string | undefined): Partial<ConsumerConfig> => ({
  durable_name: plan.durable,
  ...(mark === undefined ? {} : { description: mark }),
  filter_subject: narrowPattern(plan.pattern, streamPlan(plan.category).filter).text,
  ack_policy: AckPolicy.Explicit,
  ack_wait: nanos(plan.ackWaitMs),
  // A command may come before its durable, so the durables of commands begin at the oldest.
  deliver_policy: plan.category === "cmd" || deliver === "all" ? DeliverPolicy.All : DeliverPolicy.New,
  max_deliver: -1,
  // A delayed command counts as unanswered: a bound would let a thousand delayed commands stop all others.
  max_ack_pending: -1,
});

/** A consumer without a filter takes every command. */
const filtersOf = ({ filter_subjects: several, filter_subject: one }: ConsumerConfig): readonly string[] =>
  several !== undefined && several.length > 0 ? several : [one ?? "cg.>"];

/** A filter that is not a pattern of ours may take anything. */
const mayTake = (filter: string, pattern: SubjectPattern): boolean => {
  try {
    return doOverlap(parsePattern(filter), pattern);
  } catch {
    return true;
  }
};

const isAfter = (one: string, other: string): boolean => Date.parse(one) > Date.parse(other);

export interface DurableKeeperDeps {
  readonly wire: Wire;
  readonly jsm: JetStreamManager;
  readonly streams: StreamKeeper;
  /** Whose durables these are. */
  readonly plane: string | undefined;
}

export const createNatsDurables = ({ wire, jsm, streams, plane }: DurableKeeperDeps): NatsDurables => {
  const mark = markOf(plane);
  const isForeign = ({ config: { description } }: ConsumerInfo): boolean =>
    description?.startsWith(MARK) === true && mark !== undefined && description !== mark;

  /** When the durables seen here were made, by the server's clock. */
  const made = new Map<string, string>();

  const find = async (stream: string, durable: string): Promise<ConsumerInfo | undefined> => {
    try {
      return await jsm.consumers.info(stream, durable);
    } catch (error) {
      if (hasApiCode(error, CONSUMER_NOT_FOUND)) return undefined;
      throw error;
    }
  };

  let listing: Promise<readonly ConsumerInfo[]> | undefined;

  /** Several that are made at once look at one list. An engine that may not list makes its durables without the look. */
  const listAll = (stream: string): Promise<readonly ConsumerInfo[]> => {
    const list = async (): Promise<readonly ConsumerInfo[]> => {
      const found: ConsumerInfo[] = [];
      try {
        for await (const info of jsm.consumers.list(stream)) found.push(info);
      } catch (error) {
        if (understandNats(error).code !== "auth_failed") throw error;
      }
      return found;
    };
    listing ??= list().finally(() => {
      listing = undefined;
    });
    return listing;
  };

  /** Two durables of the same commands would both get them. */
  const checkAlone = async (stream: string, { durable, pattern, category }: DurablePlan): Promise<void> => {
    if (category !== "cmd") return;
    for (const { name, config } of await listAll(stream)) {
      const taken = name !== durable && filtersOf(config).some((filter) => mayTake(filter, pattern));
      if (taken) throw alreadyTaken(durable);
    }
  };

  const make = async (stream: string, plan: DurablePlan, config: Partial<ConsumerConfig>): Promise<ConsumerInfo> => {
    await checkAlone(stream, plan);
    return jsm.consumers.add(stream, config);
  };

  const ensure = async (plan: DurablePlan): Promise<ConsumerInfo> => {
    const stream = await streams.ensure(plan.category);
    const { name } = stream.config;
    const before = made.get(plan.durable);
    // A stream that is younger than the durable has lost its messages: all it holds now came since then.
    const wiped = before !== undefined && isAfter(stream.created, before);
    const config = configOf(plan, wiped ? "all" : plan.deliver, mark);
    const found = (await find(name, plan.durable)) ?? (await make(name, plan, config));
    if (isForeign(found))
      throw new ToolplaneError(
        "conflict",
        `durable ${plan.durable} belongs to another plane (${found.config.description?.slice(MARK.length)}); give each plane a NATS server or account of its own`,
      );
    if (found.config.filter_subject !== config.filter_subject)
      throw new ToolplaneError("conflict", `durable ${plan.durable} belongs to another pattern; drop it first`);
    if (plan.keepAckWait === true || found.config.ack_wait === config.ack_wait) return found;
    return jsm.consumers.update(name, plan.durable, { ack_wait: nanos(plan.ackWaitMs) });
  };

  return {
    async ensure(plan) {
      try {
        made.set(plan.durable, (await whileConnected(wire, () => ensure(plan))).created);
      } catch (error) {
        throw understandNats(error, plan.durable);
      }
    },
    async list(category) {
      const found: CommandDurable[] = [];
      try {
        const { config } = await streams.ensure(category);
        await whileConnected(wire, async () => {
          for await (const info of jsm.consumers.list(config.name)) {
            const { name: durable, config } = info;
            if (!isForeign(info)) found.push({ durable, pattern: config.filter_subject ?? "" });
          }
        });
        return found;
      } catch (error) {
        throw understandNats(error);
      }
    },
    async waiting(durable) {
      return (await find(streamPlan("cmd").name, durable))?.num_waiting;
    },
    async takeOver() {
      const taken: string[] = [];
      if (mark === undefined) return taken;
      try {
        for (const category of STREAM_CATEGORIES) {
          const { config } = await streams.ensure(category);
          const foreign: string[] = [];
          for await (const info of jsm.consumers.list(config.name)) if (isForeign(info)) foreign.push(info.name);
          for (const name of foreign) await jsm.consumers.update(config.name, name, { description: mark });
          taken.push(...foreign);
        }
        return taken;
      } catch (error) {
        throw understandNats(error);
      }
    },
    async drop(durable) {
      made.delete(durable);
      for (const category of STREAM_CATEGORIES) {
        try {
          const { config } = await streams.ensure(category);
          await whileConnected(wire, async () => {
            const found = await find(config.name, durable);
            if (found !== undefined && !isForeign(found)) await jsm.consumers.delete(config.name, durable);
          });
        } catch (error) {
          if (!hasApiCode(error, CONSUMER_NOT_FOUND)) throw understandNats(error);
        }
      }
    },
  };
};
