// The commands of a durable, as deliveries for the caller that fetches them. A message that is not of the protocol is not shown:
// it becomes a dead letter where dead letters are kept, and is otherwise dropped with a line in the log.

import type { Msg } from "@nats-io/transport-node";
import { CONSUMER_DEFAULTS } from "@toolplane/protocol/agents";
import type { CommandSource, Delivery } from "../bus.ts";
import type { Clock } from "../clock.ts";
import { createAnswer } from "./answer.ts";
import { readArrival } from "./arrival.ts";
import { fetchMessages } from "./fetch-commands.ts";
import { createHandling, type HandlingDeps, loseMessage } from "./handling.ts";
import type { Wire } from "./wire.ts";

export interface CommandSourceDeps extends HandlingDeps {
  readonly wire: Wire;
  readonly clock: Clock;
  /** The durable does not answer. */
  readonly gone?: () => void;
}

/** A caller that fetches by hand decides itself when to give up. */
const WITHOUT_END = Number.POSITIVE_INFINITY;

export const createCommandSource = (deps: CommandSourceDeps, durable: string): CommandSource => {
  const { wire, clock, log, gone } = deps;
  const ackWaitMs = CONSUMER_DEFAULTS.ackWaitSeconds * 1000;

  const take = (raw: Msg): Delivery | undefined => {
    const answer = createAnswer({ requests: wire.requests, clock, ackWaitMs }, raw);
    const arrival = readArrival(raw, { durable, maxDeliver: WITHOUT_END });
    if (arrival.kind === "message") {
      const plan = { durable, maxDeliver: WITHOUT_END, backoff: [] };
      return createHandling(deps, plan, { ...arrival, answer }).delivery;
    }
    if (arrival.kind === "lost") void loseMessage(deps, { ...arrival, answer });
    else {
      log.warn("a message whose subject is not of the protocol was dropped", { durable });
      void answer.term().catch(() => {});
    }
    return undefined;
  };

  return {
    async fetch(options) {
      try {
        const messages = await fetchMessages(wire, durable, options);
        return messages.map(take).filter((delivery) => delivery !== undefined);
      } catch (error) {
        gone?.();
        throw error;
      }
    },
  };
};
