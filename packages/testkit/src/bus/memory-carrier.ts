// A carrier in memory, for engines under test: it keeps what the relay publishes, gives commands to callers that fetch them, and
// fails when told to. It carries no events and no streams: tests of those use a real server.

import type { BusMessage, CarrierBus, CommandDurable, Delivery } from "@toolplane/bus";
import type { Carrier } from "@toolplane/engine";
import type { CarrierMeans } from "@toolplane/engine/internal";
import { matchesPattern, parsePattern, ToolplaneError, tryParseSubject } from "@toolplane/protocol";

export interface MemoryCarrierOptions {
  readonly republishSeconds?: number | undefined;
  readonly relayClaimMs?: number | undefined;
  readonly leftoversEveryMs?: number | undefined;
  readonly detachAfterSeconds?: number | undefined;
  /** Whether durables may be listed and dropped; true unless told otherwise. */
  readonly mayDrop?: boolean | undefined;
  /** Called between the relay and the bus; an error that it throws becomes the relay's answer. */
  readonly publish?: ((messages: readonly BusMessage[]) => void | Promise<void>) | undefined;
}

export interface MemoryCarrier extends Carrier {
  /** Every message that was accepted, repetitions under one id left out. */
  readonly accepted: readonly BusMessage[];
  /** Those of them that are commands: calls also tell events. */
  readonly commands: readonly BusMessage[];
  /** Commands that were not acknowledged. */
  readonly waiting: readonly BusMessage[];
  readonly durables: ReadonlyMap<string, string>;
  /** Every list it was asked to keep. */
  readonly ensured: readonly (readonly CommandDurable[])[];
  readonly means: CarrierMeans | undefined;
  /** While it is away everything fails. */
  away(isAway: boolean): void;
  /** Drops commands and durables, like a server that lost its disk. */
  wipe(): void;
}

interface Command {
  readonly message: BusMessage;
  attempt: number;
  held: boolean;
}

const UNUSED = { delivered: 0, acknowledged: 0, refused: 0, deadLettered: 0, inFlight: 0, consumers: 0 };

export const createMemoryCarrier = (options: MemoryCarrierOptions = {}): MemoryCarrier => {
  const seen = new Set<string>();
  const accepted: BusMessage[] = [];
  const ensured: (readonly CommandDurable[])[] = [];
  const durables = new Map<string, string>();
  let commands: Command[] = [];
  let isAway = false;
  let means: CarrierMeans | undefined;

  const check = (): void => {
    if (isAway) throw new ToolplaneError("upstream_unavailable", "the bus does not answer");
  };

  const store = (message: BusMessage): void => {
    const subject = tryParseSubject(message.subject);
    const id = `${subject?.projectId}:${message.messageId ?? ""}`;
    if (seen.has(id)) return;
    seen.add(id);
    accepted.push(message);
    if (subject?.category === "cmd") commands.push({ message, attempt: 0, held: false });
  };

  const deliveryOf = (command: Command): Delivery => {
    command.held = true;
    command.attempt++;
    const { attempt } = command;
    const isMine = (): boolean => command.held && command.attempt === attempt;
    const drop = async (): Promise<void> => {
      check();
      if (isMine()) commands = commands.filter((other) => other !== command);
    };
    return {
      ...command.message,
      attempt,
      ack: drop,
      term: drop,
      inProgress: async () => {},
      async nak() {
        check();
        if (isMine()) command.held = false;
      },
    };
  };

  const refuse = (): never => {
    throw new ToolplaneError("internal_error", "a carrier in memory carries neither events nor streams");
  };

  const bus: CarrierBus = {
    async publish(messages) {
      check();
      for (const message of messages) store(message);
      await options.publish?.(messages);
    },
    ensureDurables: async (list) => {
      check();
      ensured.push(list);
      for (const { durable, pattern } of list) durables.set(durable, pattern);
    },
    commandDurables: async () => {
      check();
      if (options.mayDrop === false) throw new ToolplaneError("auth_failed", "this user may not list durables");
      return [...durables].map(([durable, pattern]) => ({ durable, pattern }));
    },
    commandSubjects: async () => {
      check();
      return [...new Set(commands.map(({ message }) => message.subject))];
    },
    purgeCommands: async (pattern) => {
      check();
      const parsed = parsePattern(pattern);
      commands = commands.filter(({ message }) => !matchesPattern(parsed, message.subject));
    },
    commands: (durable) => ({
      fetch: async ({ max }) => {
        check();
        const pattern = durables.get(durable);
        if (pattern === undefined) throw new ToolplaneError("not_found", `there is no durable ${durable}`);
        const parsed = parsePattern(pattern);
        return commands
          .filter(({ held, message }) => !held && matchesPattern(parsed, message.subject))
          .slice(0, max)
          .map(deliveryOf);
      },
    }),
    consume: async () => refuse(),
    dropDurable: async (durable) => {
      durables.delete(durable);
    },
    publishStream: () => {},
    subscribeStream: async () => () => {},
    stats: () => ({ ...UNUSED, published: accepted.length, streamItems: 0, streamItemsDropped: 0 }),
    close: async () => {},
  };

  return {
    accepted,
    get commands() {
      return accepted.filter(({ subject }) => subject.split(".")[4] === "cmd");
    },
    durables,
    ensured,
    republishSeconds: options.republishSeconds,
    relayClaimMs: options.relayClaimMs,
    leftoversEveryMs: options.leftoversEveryMs,
    detachAfterSeconds: options.detachAfterSeconds,
    get waiting() {
      return commands.map(({ message }) => message);
    },
    get means() {
      return means;
    },
    open(given) {
      means = given;
      return bus;
    },
    away(now) {
      isAway = now;
    },
    wipe() {
      commands = [];
      durables.clear();
      seen.clear();
    },
  };
};
