// One delivery in a handler's hands. The first settlement counts and later ones wait for it and do nothing (B7); one
// that could not be written does not count, so that the handler, or the return from it, may try again.

import {
  type BusCounters,
  type ConsumePlan,
  type Delivery,
  type DeliveryHandler,
  planBackoff,
  planDelay,
} from "@toolplane/bus";
import { isToolplaneError, storableText } from "@toolplane/protocol";
import type { Log } from "../ports/log.ts";
import { type ClaimedMessage, EXHAUSTED } from "./claim.ts";
import type { Settlement } from "./settlement.ts";

export interface HandlingDeps {
  readonly settlement: Settlement;
  readonly counters: BusCounters;
  readonly log: Log;
  /** The message will be offered again after this time. */
  readonly offeredAgain: (afterMs: number) => void;
}

export interface Handling {
  /** Runs the handler to its end and settles what it left open. Never rejects. */
  run(handler: DeliveryHandler): Promise<void>;
  /** Offers the message to others at once; what the handler still does with it has no effect. */
  abandon(): Promise<void>;
}

/** Shown to people beside the message; the rest of a longer one is in the consumer's log. */
const MAX_REASON_LENGTH = 500;

/** Which kind of failure, never its words: they may hold what a tool was given (I8). */
const failureCode = (error: unknown): string => (isToolplaneError(error) ? error.code : "internal_error");

export const createHandling = (deps: HandlingDeps, plan: ConsumePlan, message: ClaimedMessage): Handling => {
  const { settlement, counters, log, offeredAgain } = deps;
  let settled: Promise<void> | undefined;

  const settleOnce = (write: () => Promise<void>): Promise<void> => {
    settled ??= write().catch((error: unknown) => {
      settled = undefined;
      throw error;
    });
    return settled;
  };

  const ack = (): Promise<void> =>
    settleOnce(async () => {
      await settlement.ack(message);
      counters.acknowledged++;
    });

  const bury = (code: string, reason: string): Promise<void> =>
    settleOnce(async () => {
      await settlement.bury(message, { code, reason: storableText(reason, MAX_REASON_LENGTH) });
      counters.deadLettered++;
    });

  const nak = (delayMs: number): Promise<void> => {
    if (message.attempt >= plan.maxDeliver) return bury(EXHAUSTED.code, EXHAUSTED.reason);
    return settleOnce(async () => {
      await settlement.delay(message, delayMs);
      counters.refused++;
      offeredAgain(delayMs);
    });
  };

  const delivery: Delivery = {
    subject: message.subject,
    headers: message.headers,
    payload: message.payload,
    messageId: message.messageId,
    attempt: message.attempt,
    ack,
    nak: async (delayMs) => nak(planDelay(delayMs)),
    inProgress: () => (settled === undefined ? settlement.extend(message, plan.ackWaitMs) : Promise.resolve()),
    term: (reason) => bury("terminated", reason),
  };

  return {
    async run(handler) {
      counters.delivered++;
      const { subject, attempt } = message;
      try {
        try {
          await handler(delivery);
        } catch (error) {
          log.warn("a message handler failed", { durable: plan.durable, subject, attempt, code: failureCode(error) });
          await nak(planBackoff(plan.backoff, attempt));
        }
        await ack();
      } catch (error) {
        // The claim lapses and the message is delivered again.
        log.warn("a delivery could not be settled", { durable: plan.durable, subject, code: failureCode(error) });
      }
    },
    async abandon() {
      await settleOnce(async () => {
        await settlement.giveBack(message);
        offeredAgain(0);
      });
    },
  };
};
