// What the contract suite needs of an adapter, and the room of each test: a project of its own, two buses as in two processes,
// and ways to wait for conditions instead of time.

import { randomBytes } from "node:crypto";
import type { Bus, BusMessage, CarrierBus, ConsumeOptions, Consumer, Delivery, DeliveryHandler } from "@toolplane/bus";
import { vi } from "vitest";

export interface DeadLetter {
  readonly subject: string;
  readonly payload: string;
  readonly reason: string;
  readonly attempts: number;
}

export interface BusHarness<Kind extends Bus = Bus> {
  /** A bus on the same server, independent of all others, as another process would have it. */
  connect(): Promise<Kind>;
  close(): Promise<void>;
}

export interface LogHarness extends BusHarness {
  /** What the project's log holds. */
  logged(projectId: string): Promise<readonly BusMessage[]>;
}

export interface CarrierHarness extends BusHarness<CarrierBus> {
  deadLetters(projectId: string): Promise<readonly DeadLetter[]>;
}

export type MessageCategory = "cmd" | "evt";

/** Collects messages and tells when there are enough. */
export interface Collector<Item> {
  readonly items: readonly Item[];
  push(item: Item): void;
  until(count: number): Promise<readonly Item[]>;
}

export const createCollector = <Item>(): Collector<Item> => {
  const items: Item[] = [];
  let waiting: { readonly count: number; readonly done: () => void }[] = [];
  return {
    items,
    push(item) {
      items.push(item);
      for (const { count, done } of waiting) if (items.length >= count) done();
      waiting = waiting.filter(({ count }) => items.length < count);
    },
    until: (count) =>
      new Promise((resolve) => {
        if (items.length >= count) return resolve(items);
        waiting.push({ count, done: () => resolve(items) });
      }),
  };
};

/** The first truthy answer; patient, because a loaded machine is not a failure. */
export const eventually = <T>(ask: () => T | Promise<T>): Promise<Awaited<T>> =>
  vi.waitUntil(ask, { timeout: 60_000, interval: 20 }) as Promise<Awaited<T>>;

/** A promise and the function that resolves it. */
export const createLatch = (): { readonly opened: Promise<void>; open(): void } => {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
};

/** A handler that holds its message until the test ends. */
export const neverSettles: DeliveryHandler = () => new Promise(() => {});

export interface BusRoom extends TwoBuses<CarrierBus> {
  readonly harness: CarrierHarness;
  subject(category: MessageCategory, suffix?: string, target?: string): string;
  message(category: MessageCategory, payload: string, extra?: Partial<BusMessage>): BusMessage;
  /** Consumes this room's messages of a category under one durable. */
  consume(
    bus: CarrierBus,
    options: Partial<ConsumeOptions> & Pick<ConsumeOptions, "category">,
    handler: DeliveryHandler,
  ): Promise<Consumer>;
  /** Resolves after the bus itself has put a message off for this long. */
  waitOut(ms: number): Promise<void>;
}

export const payloadOf = ({ payload }: Delivery): string => payload;

/** Two buses, and a project of their own. */
export interface TwoBuses<Kind extends Bus> extends AsyncDisposable {
  readonly projectId: string;
  readonly one: Kind;
  readonly other: Kind;
}

export const openBuses = async <Kind extends Bus>(harness: BusHarness<Kind>): Promise<TwoBuses<Kind>> => {
  const [one, other] = await Promise.all([harness.connect(), harness.connect()]);
  return {
    projectId: `p_${randomBytes(6).toString("hex")}`,
    one,
    other,
    async [Symbol.asyncDispose]() {
      await Promise.all([one.close({ drainMs: 0 }), other.close({ drainMs: 0 })]);
    },
  };
};

export const openRoom = async (harness: CarrierHarness): Promise<BusRoom> => {
  const buses = await openBuses(harness);
  const { projectId, other } = buses;
  // Always to agents: an engine manages the durables of tools and of the project manager itself. It throws away commands to a tool
  // that no service serves on the carrier, and NATS refuses a durable that overlaps with the project manager's.
  const subject: BusRoom["subject"] = (category, suffix = "work", target = "desk") =>
    `cg.v1r4.${projectId}.public.${category}.agent.${target}.${suffix}`;

  const waitOut = async (ms: number): Promise<void> => {
    const passed = createLatch();
    const target = `ticker_${randomBytes(4).toString("hex")}`;
    const ticker = await other.consume(
      { durable: target, pattern: `cg.v1r4.${projectId}.*.cmd.agent.${target}.>`, category: "cmd" },
      async (delivery) => {
        if (delivery.attempt === 1) await delivery.nak(ms);
        else passed.open();
      },
    );
    await other.publish([{ subject: subject("cmd", "tick", target), headers: {}, payload: "" }]);
    await passed.opened;
    await ticker.stop();
  };

  const durableOf = (category: MessageCategory): string => `d_${projectId}_${category}`;
  const patternOf = (category: MessageCategory): string => `cg.v1r4.${projectId}.*.${category}.*.desk.>`;

  return {
    ...buses,
    harness,
    subject,
    message: (category, payload, extra = {}) => ({ subject: subject(category), headers: {}, payload, ...extra }),
    consume: (bus, options, handler) =>
      bus.consume(
        {
          durable: durableOf(options.category),
          pattern: patternOf(options.category),
          ...options,
        },
        handler,
      ),
    waitOut,
  };
};
