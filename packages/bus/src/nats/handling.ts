// One delivery in a handler. The first settlement counts, and later ones wait for it and do nothing (B7). A settlement that was
// not confirmed does not count and may be tried again. A dead letter is stored before its message is removed;
// if storing takes longer than the message is held, the message comes again, and its dead letter is stored under the same id.

import { type Backoff, backoff, isToolplaneError, storableText } from "@toolplane/protocol";
import type { BusMessage, Delivery, DeliveryHandler, LostMessage } from "../bus.ts";
import type { BusCounters } from "../bus-counters.ts";
import { planBackoff, planDelay } from "../consume-plan.ts";
import type { Log } from "../log.ts";
import type { Answer } from "./answer.ts";
import { EXHAUSTED } from "./arrival.ts";

export interface HandlingDeps {
  readonly bury: (lost: LostMessage) => Promise<void>;
  readonly counters: BusCounters;
  readonly log: Log;
}

export interface HandlingPlan {
  readonly durable: string;
  readonly maxDeliver: number;
  readonly backoff: readonly number[];
}

export interface Handling {
  readonly delivery: Delivery;
  /** Runs the handler to its end and settles what it left unsettled. Never rejects. */
  run(handler: DeliveryHandler): Promise<void>;
  /** Offers the message to others at once; the handler can no longer settle it. */
  abandon(): Promise<void>;
}

/** Shown to people beside the message; a longer text is in full in the consumer's log. */
const MAX_REASON_LENGTH = 500;

/** A dead letter that could not be kept is tried again, slower each time. */
const BURY_RETRY_MS: Backoff = { first: 500, longest: 30_000 };

/** The kind of failure, never its text, which may hold a tool's arguments (I8). */
export const failureCode = (error: unknown): string => (isToolplaneError(error) ? error.code : "internal_error");

interface Losing {
  readonly lost: LostMessage;
  readonly answer: Answer;
  readonly attempt: number;
}

/** Stores a dead letter, then removes the message. */
const buryLost = async ({ bury, counters }: HandlingDeps, { lost, answer }: Losing): Promise<void> => {
  await bury({ ...lost, reason: storableText(lost.reason, MAX_REASON_LENGTH) });
  counters.deadLettered++;
  await answer.term();
};

/** The same for a message without a handler: when it cannot be stored it comes again, later each time. Never rejects. */
export const loseMessage = async (deps: HandlingDeps, losing: Losing): Promise<void> => {
  try {
    await buryLost(deps, losing);
  } catch (error) {
    const { durable, subject } = losing.lost;
    deps.log.error("a dead letter could not be kept", { durable, subject, code: failureCode(error) });
    await losing.answer.nak(backoff(BURY_RETRY_MS, losing.attempt)).catch(() => {});
  }
};

export const createHandling = (
  deps: HandlingDeps,
  plan: HandlingPlan,
  arrived: {
    readonly message: BusMessage;
    readonly attempt: number;
    readonly lostId: string;
    readonly answer: Answer;
  },
): Handling => {
  const { counters, log } = deps;
  const { message, attempt, lostId, answer } = arrived;
  let settled: Promise<void> | undefined;

  const settleOnce = (say: () => Promise<void>): Promise<void> => {
    settled ??= say().catch((error: unknown) => {
      settled = undefined;
      throw error;
    });
    return settled;
  };

  const ack = (): Promise<void> =>
    settleOnce(async () => {
      await answer.ack();
      counters.acknowledged++;
    });

  const giveUp = (code: LostMessage["code"], reason: string): Promise<void> =>
    settleOnce(() =>
      buryLost(deps, {
        lost: { ...message, lostId, durable: plan.durable, code, reason, attempts: attempt },
        answer,
        attempt,
      }),
    );

  const nak = (delayMs: number): Promise<void> => {
    if (attempt >= plan.maxDeliver) return giveUp("max_deliver", EXHAUSTED);
    return settleOnce(async () => {
      await answer.nak(delayMs);
      counters.refused++;
    });
  };

  const delivery: Delivery = {
    ...message,
    attempt,
    ack,
    nak: async (delayMs) => nak(planDelay(delayMs)),
    inProgress: () => (settled === undefined ? answer.inProgress() : Promise.resolve()),
    term: (reason) => giveUp("terminated", reason),
  };

  return {
    delivery,
    async run(handler) {
      counters.delivered++;
      const { subject } = message;
      try {
        try {
          await handler(delivery);
        } catch (error) {
          log.warn("a message handler failed", { durable: plan.durable, subject, attempt, code: failureCode(error) });
          await nak(planBackoff(plan.backoff, attempt));
        }
        await ack();
      } catch (error) {
        log.warn("a delivery could not be settled", { durable: plan.durable, subject, code: failureCode(error) });
        // Without this answer it is delivered again when its ack wait is over.
        await answer.nak(backoff(BURY_RETRY_MS, attempt)).catch(() => {});
      }
    },
    abandon: () => settleOnce(() => answer.nak(0)),
  };
};
