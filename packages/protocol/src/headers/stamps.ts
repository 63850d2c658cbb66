// What a publisher adds to a message last: a trace if it has none, and the four transport stamps, each only if absent.

import { PROTOCOL_VERSION } from "../subjects/subject.ts";
import type { HeaderMap } from "./header-map.ts";
import { HEADERS } from "./header-names.ts";

/** The sender's name when none was configured. */
const DEFAULT_SENDER = "cg-nats-client";

export interface Stamps {
  /** Milliseconds since the epoch. */
  readonly timestampMs: number;
  readonly msgType: string;
  readonly sender?: string;
}

export const stampHeaders = (headers: HeaderMap, stamps: Stamps): HeaderMap => ({
  [HEADERS.timestamp]: String(Math.trunc(stamps.timestampMs)),
  [HEADERS.version]: PROTOCOL_VERSION,
  [HEADERS.msgType]: stamps.msgType,
  [HEADERS.sender]: stamps.sender ?? DEFAULT_SENDER,
  ...headers,
});
