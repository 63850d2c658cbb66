// The two streams: made when they are missing, brought to our settings where those may change, and refused with a clear sentence
// where they may not. They are checked once, and again after the server was away or no longer knows them.
//   KS1. The server deletes no command by itself before its day is over (retention `limits`); we cut off the part of the stream that
//        is done (`trim-commands.ts`). With `workqueue` any acknowledgement deletes the message whose number it names, so a
//        tool service could delete the commands of every project. With `interest` the server drops a command that comes while its
//        durable is missing, also during a restart. A stream with `workqueue` of an earlier version is used on, and the log says so.

import {
  DiscardPolicy,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { ToolplaneError } from "@toolplane/protocol";
import { type StreamCategory, streamPlan } from "@toolplane/protocol/agents";
import type { Log } from "../log.ts";
import { hasApiCode, STREAM_NOT_FOUND, understandNats } from "./understand-nats.ts";
import { type Wire, whileConnected } from "./wire.ts";

export const STREAM_CATEGORIES: readonly StreamCategory[] = ["cmd", "evt"];

export interface StreamKeeper {
  /** Makes sure that the stream exists, with our settings. */
  ensure(category: StreamCategory): Promise<StreamInfo>;
  /** The subjects it holds messages of. */
  subjects(category: StreamCategory): Promise<readonly string[]>;
  /** Deletes the messages of these subjects. */
  purge(category: StreamCategory, subjects: string): Promise<void>;
  /** The server may have lost them: check again at the next use. */
  forgetAll(): void;
  /** The same for one check; false when another caller has checked since then. */
  forget(ensured: Promise<StreamInfo>): boolean;
}

/** A relay that repeats a message after this long stores it twice; a restart after a crash is faster. */
const DUPLICATE_WINDOW_MS = 10 * 60 * 1000;

type Wanted = Pick<
  StreamConfig,
  "name" | "subjects" | "retention" | "storage" | "discard" | "max_age" | "duplicate_window" | "num_replicas"
>;

/** What an earlier version made of the commands, and no server changes. */
const EARLIER_COMMANDS = RetentionPolicy.Workqueue;

const planStream = (category: StreamCategory, replicas: number | undefined): Wanted => {
  const { name, filter, maxAgeSeconds } = streamPlan(category);
  return {
    name,
    subjects: [filter.text],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    discard: DiscardPolicy.Old,
    max_age: nanos(maxAgeSeconds * 1000),
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
    num_replicas: replicas ?? 1,
  };
};

/** Settings that no server changes in an existing stream. */
const FIXED = ["retention", "storage"] as const;
const CHANGEABLE = ["subjects", "discard", "max_age", "duplicate_window", "num_replicas"] as const;

const isEarlier = (wanted: Wanted, found: StreamConfig): boolean =>
  wanted.name === streamPlan("cmd").name && found.retention === EARLIER_COMMANDS;

const checkFixed = (wanted: Wanted, found: StreamConfig, log: Log): void => {
  if (isEarlier(wanted, found))
    log.warn(
      "an earlier version made this NATS stream: a tool service can delete the commands of other projects in it; stop the plane, delete the stream, and start the plane, which makes it anew and sends every open command again",
      { stream: wanted.name },
    );
  const wrong = FIXED.filter(
    (name) => wanted[name] !== found[name] && !(name === "retention" && isEarlier(wanted, found)),
  );
  if (wrong.length === 0) return;
  const what = wrong.map((name) => `${name} ${found[name]} instead of ${wanted[name]}`).join(" and ");
  throw new ToolplaneError(
    "conflict",
    `the NATS stream ${wanted.name} has ${what}, which cannot be changed; delete that stream or use another NATS account`,
    { detail: { stream: wanted.name } },
  );
};

/** The settings to change; replicas only when a number was configured, because an operator may have set it on the server. */
const planChanges = (wanted: Wanted, found: StreamConfig, replicas: number | undefined): Partial<StreamConfig> => {
  const names = CHANGEABLE.filter((name) => name !== "num_replicas" || replicas !== undefined);
  const changed = names.filter((name) => JSON.stringify(wanted[name]) !== JSON.stringify(found[name]));
  return Object.fromEntries(changed.map((name) => [name, wanted[name]]));
};

export interface StreamKeeperDeps {
  readonly wire: Wire;
  readonly jsm: JetStreamManager;
  /** Undefined: as an operator has chosen, or one. */
  readonly replicas: number | undefined;
  readonly log: Log;
}

export const createStreamKeeper = ({ wire, jsm, replicas, log }: StreamKeeperDeps): StreamKeeper => {
  const ensured = new Map<StreamCategory, Promise<StreamInfo>>();

  const find = async (name: string): Promise<StreamInfo | undefined> => {
    try {
      return await jsm.streams.info(name);
    } catch (error) {
      if (hasApiCode(error, STREAM_NOT_FOUND)) return undefined;
      throw error;
    }
  };

  const bring = async (category: StreamCategory): Promise<StreamInfo> => {
    const wanted = planStream(category, replicas);
    // Making a stream that exists with the same settings is not an error, so two processes may start at once.
    const found = (await find(wanted.name)) ?? (await jsm.streams.add(wanted));
    checkFixed(wanted, found.config, log);
    const changes = planChanges(wanted, found.config, replicas);
    if (Object.keys(changes).length === 0) return found;
    return jsm.streams.update(wanted.name, { ...found.config, ...changes });
  };

  const ensure = async (category: StreamCategory): Promise<StreamInfo> => {
    try {
      return await whileConnected(wire, () => bring(category));
    } catch (error) {
      throw understandNats(error);
    }
  };

  const keeper: StreamKeeper = {
    ensure(category) {
      const known = ensured.get(category);
      if (known !== undefined) return known;
      const ensuring = ensure(category);
      ensured.set(category, ensuring);
      ensuring.catch(() => {
        if (ensured.get(category) === ensuring) ensured.delete(category);
      });
      return ensuring;
    },
    async subjects(category) {
      const { config } = await keeper.ensure(category);
      try {
        const { state } = await whileConnected(wire, () => jsm.streams.info(config.name, { subjects_filter: ">" }));
        return Object.keys(state.subjects ?? {});
      } catch (error) {
        throw understandNats(error);
      }
    },
    async purge(category, subjects) {
      const { config } = await keeper.ensure(category);
      try {
        await whileConnected(wire, () => jsm.streams.purge(config.name, { filter: subjects }));
      } catch (error) {
        throw understandNats(error);
      }
    },
    forgetAll: () => ensured.clear(),
    forget(stale) {
      const category = [...ensured.keys()].find((key) => ensured.get(key) === stale);
      return category !== undefined && ensured.delete(category);
    },
  };
  return keeper;
};
