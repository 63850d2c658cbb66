// One message as it arrives from a durable: read, counted, and given up when it is due. A handler sees only messages of the
// protocol. A foreign client's message becomes a dead letter with a reason; one whose subject is not of the protocol belongs to
// no project and is dropped with a line in the log.

import type { Msg } from "@nats-io/transport-node";
import { tryParseSubject } from "@toolplane/protocol";
import type { BusMessage, LostMessage } from "../bus.ts";
import { MAX_MESSAGE_BYTES } from "../message.ts";
import { tryParseDeliveryInfo } from "./delivery-info.ts";
import { messageIdOnWire } from "./publisher.ts";
import { readMessage, showBytes } from "./wire-message.ts";

export type Arrival =
  | { readonly kind: "message"; readonly message: BusMessage; readonly attempt: number; readonly lostId: string }
  | { readonly kind: "lost"; readonly lost: LostMessage; readonly attempt: number }
  | { readonly kind: "nobody's"; readonly attempt: number };

export interface ArrivalPlan {
  readonly durable: string;
  /** Deliveries before it is given up. */
  readonly maxDeliver: number;
}

/** Enough to see what was written; the stream may hold far larger messages. */
const SHOWN_BYTES = 64 * 1024;

export const EXHAUSTED = "delivered too often without an acknowledgement";

const shownId = (wireId: string | undefined, ours: string): string | undefined =>
  wireId?.startsWith(ours) ? wireId.slice(ours.length) : wireId;

export const readArrival = (raw: Msg, { durable, maxDeliver }: ArrivalPlan): Arrival => {
  const info = tryParseDeliveryInfo(raw.reply ?? "");
  const attempt = info?.attempt ?? 1;
  const lostId = `${durable}.${info?.origin ?? raw.reply ?? raw.subject}`;
  const subject = tryParseSubject(raw.subject);
  if (subject === undefined) return { kind: "nobody's", attempt };
  const lose = (message: BusMessage, code: LostMessage["code"], reason: string, attempts: number): Arrival => ({
    kind: "lost",
    lost: { ...message, lostId, durable, code, reason, attempts },
    attempt,
  });
  const read = readMessage(raw);
  const fault = !read.ok ? read.fault : raw.data.length > MAX_MESSAGE_BYTES ? "it is too large" : undefined;
  if (!read.ok || fault !== undefined) {
    const shown = { subject: raw.subject, headers: {}, payload: showBytes(raw.data, SHOWN_BYTES) };
    return lose(shown, "terminated", `not a message of the protocol: ${fault}`, attempt);
  }
  const messageId = shownId(read.messageId, messageIdOnWire(subject, ""));
  const message = { subject: raw.subject, headers: read.headers, payload: read.payload, messageId };
  if (attempt > maxDeliver) return lose(message, "max_deliver", EXHAUSTED, maxDeliver);
  return { kind: "message", message, attempt, lostId };
};
