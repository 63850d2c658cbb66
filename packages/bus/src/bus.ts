// The bus port: what carries messages between the parts of the plane. `Bus` is what every plane has: on PostgreSQL the log of
// events and the streams. `CarrierBus` is a bus beside the database (`nats`): it also delivers, to consumers and to services
// that fetch. One contract suite in the testkit checks the adapters against the rules below; callers may rely on nothing else.
//
// Words: a command (`cmd`) is work for one receiver; an event (`evt`) is a fact for all subscribers; a stream item (`str`) is
// shown to current listeners. A durable is a named subscription that outlives its consumers.
//
// Every bus:
//   B1.  Subject, headers and payload arrive as they were published, byte for byte.
//   B2.  `publish` resolves when every message is stored. A message the bus may not carry is refused before anything of
//        that call is stored; a call that rejects for another reason may have stored any of its messages. Without a bus beside
//        the database no service takes commands from a bus, so they are refused.
//   B3.  The same message id again, in the same project and while the bus remembers it, is stored once. PostgreSQL
//        remembers for as long as it holds the message; NATS for its duplicate window (10 minutes).
//   B15. Stream items: at most once, no headers, to every matching subscriber. Publishing one never waits and never
//        fails for reasons of transport; a subscriber that throws does not affect the others.
//   B16. A lost ring of a bell or a lost connection costs latency, never a message (I13).
// A bus beside the database:
//   B4.  A command goes to one consumer at a time among all that match; once acknowledged it is gone.
//   B5.  An event goes to every durable whose pattern matches; inside one durable consumers compete for it.
//   B6.  Delivery is at least once: a message that is not settled within `ackWaitMs` of its delivery, or of the last
//        `inProgress`, is delivered again, with `attempt` one higher.
//   B7.  A handler that returns acknowledges the message; one that throws gives it back (nak) with `backoff`. The first
//        settlement of a delivery counts, also one that the handler made itself; later ones do nothing.
//   B8.  After `nak(delay)` a message is not delivered before the delay has passed.
//   B9.  A message that failed `maxDeliver` times, or was given up by `term`, becomes a dead letter and is never
//        delivered to that durable again. Other durables are not affected.
//   B10. A delivery that was superseded by a later one can settle nothing.
//   B11. A durable of events remembers its position while it has no consumer. A new one starts at the oldest event held
//        (`deliver: "all"`) or at what is published after `consume` resolved (`"new"`). It belongs to one pattern;
//        another pattern is `conflict`. A command that comes before its durable waits for it, for minutes at least; durables of
//        commands must not overlap. Behind an outbox an event counts as published when it has left: a new durable may get one of a moment before.
//   B12. An event is delivered in whatever order publishers finish; a publisher that stays open delays no other's.
//   B13. At most `maxInFlight` handlers of one `consume` run at once. No order among messages is promised.
//   B14. `stop` (or the signal) ends deliveries at once and waits for running handlers; what is not finished when the
//        drain ends is offered to others immediately, as one more attempt. `close` does so for everything.

import type { HeaderMap } from "@toolplane/protocol";
import type { StreamCategory } from "@toolplane/protocol/agents";

export interface BusMessage {
  /** A concrete `cmd` or `evt` subject. */
  readonly subject: string;
  readonly headers: HeaderMap;
  readonly payload: string;
  /** Unique within the subject's project; see B3. */
  readonly messageId?: string | undefined;
}

export interface Delivery extends BusMessage {
  /** 1 for the first time. */
  readonly attempt: number;
  ack(): Promise<void>;
  /** Not now: again after `delayMs`, or as soon as possible. */
  nak(delayMs?: number): Promise<void>;
  /** Still at work: `ackWaitMs` starts anew. */
  inProgress(): Promise<void>;
  /** Never: a dead letter with this reason. */
  term(reason: string): Promise<void>;
}

export type DeliveryHandler = (delivery: Delivery) => void | Promise<void>;

/** Where a new durable begins. It matters for events only: a command is held until a consumer takes it. */
export type DeliverFrom = "all" | "new";

export interface ConsumeOptions {
  readonly durable: string;
  /** A subject with `*` for one token and `>` for the rest. */
  readonly pattern: string;
  readonly category: StreamCategory;
  readonly deliver?: DeliverFrom | undefined;
  /** How many messages are fetched at once. */
  readonly batch?: number | undefined;
  readonly maxInFlight?: number | undefined;
  readonly ackWaitMs?: number | undefined;
  readonly maxDeliver?: number | undefined;
  /** Milliseconds to wait after the first, second, ... failure; the last one repeats. Empty: at once. */
  readonly backoff?: readonly number[] | undefined;
  /** Aborting it is `stop()`. */
  readonly signal?: AbortSignal | undefined;
}

export interface DrainOptions {
  /** How long running handlers may take to finish. */
  readonly drainMs?: number | undefined;
}

export interface Consumer {
  readonly durable: string;
  stop(options?: DrainOptions): Promise<void>;
}

export interface StreamItem {
  /** A concrete `str` subject. */
  readonly subject: string;
  readonly payload: string;
}

export interface BusStats {
  readonly published: number;
  readonly streamItems: number;
  readonly streamItemsDropped: number;
}

export interface CarrierBusStats extends BusStats {
  readonly delivered: number;
  readonly acknowledged: number;
  readonly refused: number;
  readonly deadLettered: number;
  readonly inFlight: number;
  readonly consumers: number;
}

export interface Bus {
  publish(messages: readonly BusMessage[]): Promise<void>;
  publishStream(item: StreamItem): void;
  /** Resolves to the way to stop listening, when the subscription is in place. */
  subscribeStream(pattern: string, handler: (item: StreamItem) => void): Promise<() => void>;
  stats(): BusStats;
  close(options?: DrainOptions): Promise<void>;
}

export interface FetchOptions {
  readonly max: number;
  /** How long to wait when there is none. */
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A durable of commands that others fetch from. */
export interface CommandDurable {
  readonly durable: string;
  readonly pattern: string;
}

/** Commands fetched by hand; each delivery is the taker's to settle. */
export interface CommandSource {
  /** As soon as there is one, up to `max`; none when nothing came in time or the signal aborted. */
  fetch(options: FetchOptions): Promise<readonly Delivery[]>;
}

/**
 * A bus of its own, beside the database. The engine relays its outbox to it, keeps the durables that services fetch from,
 * and takes back the commands whose calls were started without them.
 */
export interface CarrierBus extends Bus {
  /** Resolves when the subscription is in place. */
  consume(options: ConsumeOptions, handler: DeliveryHandler): Promise<Consumer>;
  /** Forgets a durable: its position and what it had taken. Its consumers must be stopped. */
  dropDurable(durable: string): Promise<void>;
  stats(): CarrierBusStats;
  /** Makes what holds messages and these durables exist; those that are there stay as they are. */
  ensureDurables(durables: readonly CommandDurable[]): Promise<void>;
  /** All durables of commands that are there, but for those of another plane. */
  commandDurables(): Promise<readonly CommandDurable[]>;
  /** The subjects of the commands it holds. */
  commandSubjects(): Promise<readonly string[]>;
  /** Throws away the commands that match: those of a receiver that takes its work from the database. */
  purgeCommands(pattern: string): Promise<void>;
  /** The commands of a durable that exists. */
  commands(durable: string): CommandSource;
}

/** A message the bus gives up: who keeps dead letters is told before the message is gone. */
export interface LostMessage extends BusMessage {
  /** The same for every delivery of one message to one durable: a letter that is kept twice is one letter (B9). */
  readonly lostId: string;
  readonly durable: string;
  readonly code: "max_deliver" | "terminated";
  readonly reason: string;
  readonly attempts: number;
}

/** How long a shutdown waits for running handlers; longer than a settlement takes. */
export const DEFAULT_DRAIN_MS = 10_000;
