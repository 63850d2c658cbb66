// The answer to one delivery, as the server understands it. Every answer is confirmed, so the settling code knows the outcome.
//
// A JetStream server accepts any answer for the message it now waits for, also the answer of an old delivery. A superseded
// delivery must settle nothing (B10), so an answer is not sent when its time is nearly over by our own clock: the server's clock
// began earlier, and the next delivery may be on its way.

import type { Msg } from "@nats-io/transport-node";
import type { Clock } from "../clock.ts";
import type { Requests } from "./requests.ts";

export interface Answer {
  ack(): Promise<void>;
  nak(delayMs: number): Promise<void>;
  term(): Promise<void>;
  inProgress(): Promise<void>;
}

export interface AnswerDeps {
  readonly requests: Requests;
  readonly clock: Clock;
  readonly ackWaitMs: number;
}

/**
 * The gap between the start of the server's clock and of ours: the way of a delivery, and a busy event loop. It is sometimes a
 * tenth of a second, however short the ack wait, so short ack waits give up a larger part.
 */
const MARGIN_PART = 5;
const LONGEST_MARGIN_MS = 1_000;

const CONFIRM_MS = 5_000;
const NANOS_PER_MS = 1_000_000;

export const createAnswer = ({ requests, clock, ackWaitMs }: AnswerDeps, message: Msg): Answer => {
  const heldMs = ackWaitMs - Math.min(LONGEST_MARGIN_MS, ackWaitMs / MARGIN_PART);
  let since = clock.now();
  const say = async (text: string): Promise<void> => {
    if (message.reply === undefined || clock.now() - since > heldMs) return;
    await requests.ask(message.reply, text, { timeoutMs: CONFIRM_MS });
  };
  return {
    ack: () => say("+ACK"),
    nak: (delayMs) => say(delayMs > 0 ? `-NAK {"delay":${delayMs * NANOS_PER_MS}}` : "-NAK"),
    term: () => say("+TERM"),
    async inProgress() {
      const asked = clock.now();
      await say("+WPI");
      if (asked - since <= heldMs) since = asked;
    },
  };
};
