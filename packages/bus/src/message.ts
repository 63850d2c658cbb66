// What a bus may carry. The refusals are the same for every adapter: a message that one of them would change or refuse half way
// (text that is not UTF-8, a header of the transport itself, too many bytes) is refused by all, before anything is sent.

import {
  isHeaderText,
  normalizeHeaders,
  parseSubject,
  type Subject,
  ToolplaneError,
  utf8Bytes,
  violation,
} from "@toolplane/protocol";
import type { BusMessage, StreamItem } from "./bus.ts";

/** A NATS server's default for a message with its headers. Cards are pointed at, so messages stay far below it. */
export const MAX_MESSAGE_BYTES = 1_048_576;

/** Longer than any id of ours or of a provider; it is an index key in one adapter and a header in the other. */
const MAX_MESSAGE_ID_LENGTH = 256;

/** Headers of this prefix steer JetStream (deduplication, expected sequence, rollup): they are the adapter's alone. */
const TRANSPORT_PREFIX = "nats-";

/** Name, colon, blank, line end: what a header costs beside its text. */
const HEADER_OVERHEAD = 4;

const checkText = (payload: unknown): number => {
  if (typeof payload !== "string") throw violation("a message's payload is not text");
  // PostgreSQL stores no NUL, and a lone surrogate has no UTF-8: both would arrive as something else.
  if (payload.includes("\0") || !payload.isWellFormed())
    throw violation("a message's payload has a NUL or a lone surrogate");
  return utf8Bytes(payload);
};

const checkHeaders = (headers: BusMessage["headers"]): number => {
  const normal = normalizeHeaders(headers);
  let bytes = 0;
  for (const [name, value] of Object.entries(headers)) {
    if (normal[name] !== value) throw violation(`header ${name} is not as the bus would carry it`);
    if (name.toLowerCase().startsWith(TRANSPORT_PREFIX)) throw violation(`header ${name} belongs to the transport`);
    // A header's line loses blanks at its ends.
    if (value !== value.trim()) throw violation(`header ${name} begins or ends with a blank`);
    bytes += name.length + value.length + HEADER_OVERHEAD;
  }
  return bytes;
};

const checkSize = (bytes: number): void => {
  if (bytes <= MAX_MESSAGE_BYTES) return;
  throw new ToolplaneError("payload_too_large", `a message has ${bytes} bytes; the bus carries ${MAX_MESSAGE_BYTES}`);
};

const checkMessageId = (messageId: string | undefined): void => {
  if (messageId === undefined) return;
  if (messageId === "" || messageId.length > MAX_MESSAGE_ID_LENGTH || !isHeaderText(messageId))
    throw violation(`a message id is 1 to ${MAX_MESSAGE_ID_LENGTH} printable characters`);
};

/** Refuses what a bus may not carry; returns the message's subject in parts. */
export const checkMessage = (message: BusMessage): Subject => {
  const subject = parseSubject(message.subject);
  if (subject.category !== "cmd" && subject.category !== "evt")
    throw violation(`a ${subject.category} subject is not published as a message`);
  checkMessageId(message.messageId);
  checkSize(checkText(message.payload) + checkHeaders(message.headers));
  return subject;
};

/** Refuses what is not a stream item. */
export const checkStreamItem = (item: StreamItem): void => {
  const subject = parseSubject(item.subject);
  if (subject.category !== "str") throw violation(`a ${subject.category} subject is not published as a stream item`);
  checkSize(checkText(item.payload));
};
